import { TransportHarness, waitUntil } from "../../transports/testing/transport_harness.ts";

// Opens a transport as a gateway does, prints its records, and waits to be killed.

const [leaseId = ""] = Deno.args;
const harness = await TransportHarness.open({}, { leaseId });
const script = `trap "" TERM; while :; do sleep 1; done`;
await harness.call("run", { script });
await harness.call("run", { script, leaveGroup: true });
await waitUntil(async () =>
  (await harness.records.values()).every(({ pgid }) => pgid !== undefined)
);
const records = JSON.stringify(await harness.records.values());
Deno.stdout.writeSync(new TextEncoder().encode(records + "\n"));
await new Promise(() => setInterval(() => {}, 1_000));
