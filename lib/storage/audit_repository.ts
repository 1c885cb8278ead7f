import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { deleteAll, deleteFound, Repository } from "./collection.ts";
import { keys, timeOfId } from "./keys.ts";
import type { StoredRecord } from "./records.ts";

export const AuditEntry = z.strictObject({
  /** Begins with its time in base 36. */
  id: z.string(),
  /** In ms since the epoch; later than that of the entry before it by the same process. */
  at: z.number(),
  /** The process that wrote it, and which of its entries this is. */
  chain: z.string(),
  n: z.int().nonnegative(),
  /** The hash and the time of the entry before it in its chain. */
  prev: z.string().optional(),
  prevAt: z.number().optional(),
  principal: z.string(),
  /** What the principal was called then. */
  who: z.string().optional(),
  from: z.string(),
  action: z.string(),
  subject: z.string(),
  /** JSON without secrets, or the beginning of it. */
  before: z.string().optional(),
  after: z.string().optional(),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditChain = AuditEntry.pick({ chain: true, n: true, at: true, hash: true });
export type AuditChain = z.infer<typeof AuditChain>;

/** What one commit takes: each entry has a check of its own. */
export const AUDIT_BATCH = 10;

export interface AuditRange {
  since?: number | undefined;
  until?: number | undefined;
  /** Only what came before this entry. */
  before?: string | undefined;
}

/** The audit log: entries are added and, at the end of their time, cleared away; nothing else. */
export class AuditRepository extends Repository {
  /** Adds the next entries of a chain, at most a batch; none of them may be there. */
  async append(entries: readonly AuditEntry[]): Promise<void> {
    const last = entries.at(-1);
    if (last === undefined) return;
    const { chain, n, at, hash } = last;
    const head: AuditChain = { chain, n, at, hash };
    const sets = entries.map((value) => ({ key: keys.auditLog(value.at, value.id), value }));
    const done = await this.store.tryCommit({
      checks: sets.map(({ key }) => ({ key, versionstamp: null })),
      sets: [...sets, { key: keys.auditChains(chain), value: head }],
      announce: false,
    });
    if (done !== undefined) return;
    // A commit whose answer was lost on its way may have been done.
    const found = await this.readAs(keys.auditLog(last.at, last.id), AuditEntry);
    if (found?.hash === hash) return;
    throw new GatewayError("CONFLICT", {
      message: "Cannot add to the audit log: another entry already has this position",
    });
  }

  /** The newest first. One that cannot be read is left out, with a warning. */
  async *list(range: AuditRange = {}): AsyncGenerator<AuditEntry, void> {
    for await (const record of this.store.list(selectorOf(range), { reverse: true })) {
      const { success, data, error } = AuditEntry.safeParse(record.value);
      if (success) yield data;
      else this.store.warn("Skipped an unreadable audit entry", { key: record.key, error });
    }
  }

  /** As they are stored, the oldest first. */
  records(): AsyncIterable<StoredRecord> {
    return this.store.list({ prefix: keys.auditLog() });
  }

  async chains(): Promise<AuditChain[]> {
    const records = this.store.list({ prefix: keys.auditChains() });
    const parsed = await Array.fromAsync(records, ({ value }) => AuditChain.safeParse(value).data);
    return parsed.filter((chain) => chain !== undefined);
  }

  /** Up to which time entries have to go, and how many these are; undefined if none has to. */
  async findOld(
    before: number,
    most: number,
  ): Promise<{ until: number; count: number } | undefined> {
    const until = Math.max(before, await this.#timeOfNewest(most));
    let count = 0;
    for await (const _ of this.store.list(selectorOf({ until }))) count++;
    return count === 0 ? undefined : { until, count };
  }

  /** Clears away what is older, and chains of which nothing is left. */
  async removeOld(until: number): Promise<void> {
    await deleteFound(this.store, selectorOf({ until }));
    const ended = (await this.chains()).filter(({ at }) => at < until);
    await deleteAll(this.store, ended.map(({ chain }) => keys.auditChains(chain)));
  }

  /** The time of the oldest among the newest so many; 0 if there are no more. */
  async #timeOfNewest(most: number): Promise<number> {
    // Few records say whether the many have to be counted.
    const written = (await this.chains()).reduce((sum, { n }) => sum + n + 1, 0);
    if (written <= most) return 0;
    let count = 0;
    let time = 0;
    const records = this.store.list({ prefix: keys.auditLog() }, { reverse: true });
    for await (const { key } of records) {
      if (++count > most) return time;
      time = Number(key[1]);
    }
    return 0;
  }
}

/** Deno KV takes a prefix with one bound, or two bounds. */
function selectorOf({ since, until = Infinity, before }: AuditRange): Deno.KvListSelector {
  const prefix = keys.auditLog();
  const time = (before === undefined ? undefined : timeOfId(before)) ?? Infinity;
  const end = time < until
    ? keys.auditLog(time, before ?? "")
    : until < Infinity
    ? [...prefix, until]
    : undefined;
  if (since === undefined) return end === undefined ? { prefix } : { prefix, end };
  const start = [...prefix, Math.min(since, time, until)];
  return end === undefined ? { prefix, start } : { start, end };
}
