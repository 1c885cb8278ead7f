import * as z from "zod";
import { forwardNow } from "../core/clock.ts";
import { deleteAll } from "./collection.ts";
import { keys, type RecordKey } from "./keys.ts";
import { Login } from "./logins_repository.ts";
import { SealedRepository } from "./sealing.ts";

const Prepared = Login.omit({
  id: true,
  loggedInAt: true,
  issuedAt: true,
  expiresAt: true,
  trouble: true,
  accessToken: true,
  refreshToken: true,
});

const Waiting = z.strictObject({
  prepared: Prepared,
  redirectUri: z.string(),
  /** Whether every answer of the authorization server names it. */
  namesIssuer: z.boolean(),
  /** Proves that whoever brings the code is who began. */
  verifier: z.string(),
  authorizeUrl: z.string(),
});
export type Waiting = z.infer<typeof Waiting>;

const StoredPending = z.strictObject({
  server: z.string(),
  expiresAt: z.number(),
  sealed: z.string().optional(),
  outcome: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("done") }),
    z.strictObject({ kind: z.literal("failed"), reason: z.string() }),
  ]).optional(),
});

export type LoginOutcome = NonNullable<z.infer<typeof StoredPending>["outcome"]>;

/** A login that was begun: it has `waiting` until its answer has come, and later an outcome. */
export interface LoginAttempt extends Omit<z.infer<typeof StoredPending>, "sealed"> {
  waiting?: Waiting;
}

/** Logins that were begun. In the store, so that the answer may reach another gateway. */
export class PendingLoginsRepository extends SealedRepository {
  async save(id: string, server: string, expiresAt: number, waiting: Waiting): Promise<void> {
    await this.#prune();
    const sealed = await this.seal(JSON.stringify(waiting), purposeOf(id));
    await this.put(keys.pendingLogins(id), { server, expiresAt, sealed });
  }

  async find(id: string): Promise<LoginAttempt | undefined> {
    return (await this.#read(id))?.attempt;
  }

  /** Takes what is waited for: an answer is good for one use. */
  async take(id: string): Promise<LoginAttempt | undefined> {
    const found = await this.#read(id);
    if (found?.attempt.waiting === undefined) return undefined;
    const { attempt, versionstamp } = found;
    const key = keys.pendingLogins(id);
    const taken = await this.store.tryCommit({
      checks: [{ key, versionstamp }],
      sets: [{ key, value: { server: attempt.server, expiresAt: attempt.expiresAt } }],
      announce: false,
    });
    return taken === undefined ? undefined : attempt;
  }

  /** Says how it ended to whoever still asks. */
  async settle(id: string, attempt: LoginAttempt, outcome: LoginOutcome): Promise<void> {
    const { server, expiresAt } = attempt;
    await this.put(keys.pendingLogins(id), { server, expiresAt, outcome });
  }

  async #read(id: string) {
    const record = await this.store.read(keys.pendingLogins(id));
    const parsed = StoredPending.safeParse(record?.value);
    if (record === undefined || !parsed.success) return undefined;
    const { sealed, ...attempt } = parsed.data;
    if (attempt.expiresAt <= forwardNow()) return undefined;
    const waiting = sealed === undefined
      ? {}
      : { waiting: Waiting.parse(JSON.parse(await this.unseal(sealed, purposeOf(id)))) };
    return { attempt: { ...attempt, ...waiting }, versionstamp: record.versionstamp };
  }

  async #prune(): Promise<void> {
    const old: RecordKey[] = [];
    for await (const { key, value } of this.store.list({ prefix: keys.pendingLogins() })) {
      const parsed = StoredPending.safeParse(value);
      if (!parsed.success || parsed.data.expiresAt <= forwardNow()) old.push(key);
    }
    await deleteAll(this.store, old);
  }
}

function purposeOf(id: string): string {
  return `pending login ${id}`;
}
