import { reapOrphans } from "../process_owner.ts";
import { HOST, ownerOf } from "../../transports/testing/transport_harness.ts";
import { MemoryRecords } from "./memory_records.ts";

// Reaps the lease that this very process carries the marker of, and prints what it ended.

const [leaseId = ""] = Deno.args;
const { marker } = ownerOf(leaseId);
const records = new MemoryRecords([{ id: "1", leaseId, host: HOST, marker, command: "any" }]);
const isLeaseAlive = () => Promise.resolve(false);
const reaped = await reapOrphans({ records, isLeaseAlive, host: HOST });
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(reaped)));
