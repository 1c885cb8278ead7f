import { GatewayError } from "../../core/errors.ts";
import type { ProcessesRepository, ProcessRecord } from "../../storage/leases_repository.ts";
import { endGroups, findMarked, listProcesses, startTimeOf } from "./process_group.ts";

const MARKER_NAME = "QUARTERMASTER_OWNER";

export type ProcessRecords = Pick<ProcessesRepository, "replace" | "delete" | "values">;

interface ProcessOwnerOptions {
  leaseId: string;
  /** Acquires the lease if it is not held: programs without one count as orphans. */
  holdLease?: (() => Promise<unknown>) | undefined;
  host: string;
  records: ProcessRecords;
  /** A record that cannot be kept is no reason not to serve. */
  onWarning: (message: string, details: { error: unknown }) => void;
}

/**
 * Keeps account of the programs this gateway started, such that a kill at any moment leaves none
 * that cannot be found: the record with the marker is written before the program starts.
 */
export class ProcessOwner implements AsyncDisposable {
  readonly #options: ProcessOwnerOptions;
  #isEnding = false;

  constructor(options: ProcessOwnerOptions) {
    this.#options = options;
  }

  get markerEnv(): Record<string, string> {
    return { [MARKER_NAME]: this.#options.leaseId };
  }

  get marker(): string {
    return `${MARKER_NAME}=${this.#options.leaseId}`;
  }

  /** Throws once the programs are being ended: a retry at that moment must not start another. */
  async announce(command: string): Promise<AnnouncedProcess> {
    if (this.#isEnding) throw stopping();
    const { leaseId, host } = this.#options;
    const record = { id: crypto.randomUUID(), leaseId, host, marker: this.marker, command };
    const announced = new AnnouncedProcess(record, this.#options);
    await this.#options.holdLease?.();
    await announced.save();
    if (!this.#isEnding) return announced;
    await announced[Symbol.asyncDispose]();
    throw stopping();
  }

  /** Ends what left its group and so outlived its transport; call it when all links are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    await endProcesses([{ marker: this.marker }]);
  }
}

function stopping(): GatewayError {
  return new GatewayError("SERVER_DISCONNECTED", { message: "The gateway is stopping" });
}

export class AnnouncedProcess implements AsyncDisposable {
  readonly #record: ProcessRecord;
  readonly #options: ProcessOwnerOptions;
  #saved: Promise<void> = Promise.resolve();

  constructor(record: ProcessRecord, options: ProcessOwnerOptions) {
    this.#record = record;
    this.#options = options;
  }

  async save(process: Pick<ProcessRecord, "pgid" | "startTime"> = {}): Promise<void> {
    const { records, onWarning } = this.#options;
    await records.replace({ ...this.#record, ...process }).catch((error) => {
      onWarning(`Cannot record that "${this.#record.command}" runs`, { error });
    });
  }

  /** Adds to the record in the background: the marker suffices until then. */
  started(pgid: number): void {
    this.#saved = startTimeOf(pgid).then((startTime) => {
      if (startTime !== undefined) return this.save({ pgid, startTime });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { records, onWarning } = this.#options;
    await this.#saved;
    await records.delete(this.#record.id).catch((error) => {
      onWarning(`Cannot record that "${this.#record.command}" has ended`, { error });
    });
  }
}

const GRACE_MS = 1_000;
/** A process may start another one while it is being ended. */
const MOST_ROUNDS = 3;

interface ReapedLease {
  leaseId: string;
  commands: string[];
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
  const ours = (await records.values()).filter((record) => record.host === host);
  const reaped: ReapedLease[] = [];
  for (const [leaseId, left] of Map.groupBy(ours, (record) => record.leaseId)) {
    if (await isLeaseAlive(leaseId)) continue;
    const ended = await endProcesses(left);
    if (ended === undefined) continue;
    if (ended.survivors.length === 0) await Promise.all(left.map(({ id }) => records.delete(id)));
    reaped.push({ leaseId, commands: [...new Set(left.map(({ command }) => command))], ...ended });
  }
  return reaped;
}

/** Deletes the records of programs whose gateway has ended, where they end with it. */
export async function forgetOrphans(
  { records, isLeaseAlive }: {
    records: ProcessRecords;
    isLeaseAlive: (leaseId: string) => Promise<boolean>;
  },
): Promise<void> {
  for (const { id, leaseId } of await records.values()) {
    if (!await isLeaseAlive(leaseId)) await records.delete(id);
  }
}

type StartedProcess = Pick<ProcessRecord, "marker" | "pgid" | "startTime">;

/** Ends all that the records or their markers prove to be ours; undefined where one cannot look. */
async function endProcesses(
  left: readonly StartedProcess[],
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
async function findGroups(left: readonly StartedProcess[]): Promise<Set<number> | undefined> {
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
