import { hostname } from "node:os";
import { isGroupAlive, startTimeOf } from "../../servers/processes/process_group.ts";
import { LeasesRepository, ProcessesRepository } from "../../storage/leases_repository.ts";
import type { Store } from "../../storage/store.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** Programs that a gateway started which is no more. Looks only: gateways end them themselves. */
export async function checkLeftovers(store: Store, isRunning: boolean): Promise<Finding[]> {
  const leases = new LeasesRepository(store);
  const host = hostname();
  const left: string[] = [];
  for (
    const { leaseId, pgid, command, host: where, startTime } of await new ProcessesRepository(store)
      .list()
  ) {
    if (where !== host || pgid === undefined) continue;
    const lease = await leases.find(leaseId);
    const isAlive = lease !== undefined && lease.expiresAt > Date.now() &&
      (lease.host !== host || await startTimeOf(lease.pid) !== undefined);
    if (isAlive || await startTimeOf(pgid) !== startTime || !await isGroupAlive(pgid)) continue;
    left.push(`${command} (process group ${pgid})`);
  }
  if (left.length === 0) return [ok("leftovers", "No program of a killed gateway is left running")];
  return [warning(
    "leftovers",
    `A gateway that was killed left running: ${left.join(", ")}`,
    isRunning
      ? "Wait: the gateway that runs ends them within 30 s"
      : "Start a gateway on this data folder: it ends them",
  )];
}
