import { endGroups, findMarked, listProcesses } from "./process_group.ts";
import type { ProcessRecord, ProcessRecords } from "./process_records.ts";

const GRACE_MS = 1_000;
/** A process may start another one while it is being ended. */
const MOST_ROUNDS = 3;

/** What a gateway that is no more had left running. */
export interface ReapedLease {
  leaseId: string;
  commands: string[];
  /** The process groups that were ended. */
  groupIds: number[];
  /** Those that would not end; their records stay for the next try. */
  survivors: number[];
}

/**
 * Ends what killed gateways left running on this machine. What belongs to a lease that is alive is
 * not looked at.
 */
export async function reapOrphans({ records, isLeaseAlive, host }: {
  records: ProcessRecords;
  isLeaseAlive: (leaseId: string) => Promise<boolean>;
  host: string;
}): Promise<ReapedLease[]> {
  const ours = (await records.list()).filter((record) => record.host === host);
  const reaped: ReapedLease[] = [];
  for (const [leaseId, left] of Map.groupBy(ours, (record) => record.leaseId)) {
    if (await isLeaseAlive(leaseId)) continue;
    const ended = await endProcesses(left);
    if (ended === undefined) continue;
    if (ended.survivors.length === 0) await Promise.all(left.map(({ id }) => records.remove(id)));
    reaped.push({ leaseId, commands: [...new Set(left.map(({ command }) => command))], ...ended });
  }
  return reaped;
}

/** Ends all that the records or their markers prove to be ours; undefined where one cannot look. */
export async function endProcesses(
  left: readonly Pick<ProcessRecord, "marker" | "pgid" | "startTime">[],
): Promise<{ groupIds: number[]; survivors: number[] } | undefined> {
  const seen = new Set<number>();
  let survivors: number[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const groupIds = await findGroups(left);
    if (groupIds === undefined) return undefined;
    if (groupIds.size === 0) return { groupIds: [...seen], survivors: [] };
    for (const groupId of groupIds) seen.add(groupId);
    survivors = await endGroups(groupIds, GRACE_MS);
  }
  return { groupIds: [...seen], survivors };
}

/**
 * The groups that still run. A pid alone proves nothing, for it may have been given to another
 * program since. Either of two things does: the marker, which a program inherits and nobody else
 * has, or the leader's start time, which holds where a program wiped its environment.
 */
async function findGroups(
  left: readonly Pick<ProcessRecord, "marker" | "pgid" | "startTime">[],
): Promise<Set<number> | undefined> {
  const markers = new Set(left.map(({ marker }) => marker));
  const marked = new Set((await Promise.all(Array.from(markers, findMarked))).flat());
  if (marked.size === 0 && left.every(({ pgid }) => pgid === undefined)) return new Set();
  const running = await listProcesses();
  if (running === undefined) return undefined;
  const groupIds = new Set<number>();
  for (const { pid, groupId, startTime } of running) {
    const isLeader = pid === groupId &&
      left.some((record) => record.pgid === pid && record.startTime === startTime);
    if (isLeader || marked.has(pid)) groupIds.add(groupId);
  }
  // Ours, where a server of the old gateway (one that runs shell commands) started this one.
  const self = running.find(({ pid }) => pid === Deno.pid);
  if (self !== undefined) groupIds.delete(self.groupId);
  return groupIds;
}
