import { z } from "zod";
import { deleteAll } from "./collection.ts";
import { keys, type RecordKey } from "./keys.ts";
import { Login } from "./logins_repository.ts";
import type { BoxSource } from "./sealing.ts";
import type { Store } from "./store.ts";

/** What becomes the login once the answer is there. */
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
  /** Where the person is sent. */
  authorizeUrl: z.string(),
});
export type Waiting = z.infer<typeof Waiting>;

const StoredPending = z.strictObject({
  server: z.string(),
  expiresAt: z.number(),
  /** Undefined once its answer has come. */
  sealed: z.string().optional(),
  outcome: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("done") }),
    z.strictObject({ kind: z.literal("failed"), reason: z.string() }),
  ]).optional(),
});

/** How a login that was begun stands. */
export interface LoginAttempt {
  server: string;
  expiresAt: number;
  /** Undefined where an answer has come. */
  waiting?: Waiting;
  /** Undefined while it is waited for. */
  outcome?: LoginOutcome;
}

export type LoginOutcome = { kind: "done" } | { kind: "failed"; reason: string };

/** Logins that were begun. In the store, so that the answer may reach another gateway. */
export class PendingLoginsRepository {
  readonly #store: Store;
  readonly #box: BoxSource;

  constructor(store: Store, box: BoxSource) {
    this.#store = store;
    this.#box = box;
  }

  async save(id: string, server: string, expiresAt: number, waiting: Waiting): Promise<void> {
    await this.#prune();
    const box = await this.#box();
    const value = {
      server,
      expiresAt,
      sealed: await box.seal(JSON.stringify(waiting), purposeOf(id)),
    };
    await this.#store.commit({
      sets: [{ key: keys.pendingLogins(id), value }],
      announce: false,
    });
  }

  /** Undefined where there is none, or it has run out. */
  async find(id: string): Promise<LoginAttempt | undefined> {
    return (await this.#read(id))?.attempt;
  }

  /** Takes what is waited for: an answer is good for one use. */
  async take(id: string): Promise<LoginAttempt | undefined> {
    const found = await this.#read(id);
    if (found?.attempt.waiting === undefined) return undefined;
    const { attempt, versionstamp } = found;
    const key = keys.pendingLogins(id);
    const taken = await this.#store.tryCommit({
      checks: [{ key, versionstamp }],
      sets: [{ key, value: { server: attempt.server, expiresAt: attempt.expiresAt } }],
      announce: false,
    });
    return taken === undefined ? undefined : attempt;
  }

  /** Says how it ended to whoever still asks. */
  async settle(id: string, attempt: LoginAttempt, outcome: LoginOutcome): Promise<void> {
    const { server, expiresAt } = attempt;
    await this.#store.commit({
      sets: [{ key: keys.pendingLogins(id), value: { server, expiresAt, outcome } }],
      announce: false,
    });
  }

  async #read(id: string) {
    const record = await this.#store.read(keys.pendingLogins(id));
    const parsed = StoredPending.safeParse(record?.value);
    if (record === undefined || !parsed.success) return undefined;
    const { sealed, outcome, ...rest } = parsed.data;
    if (rest.expiresAt <= Date.now()) return undefined;
    const box = await this.#box();
    const attempt: LoginAttempt = {
      ...rest,
      ...(sealed === undefined
        ? {}
        : { waiting: Waiting.parse(JSON.parse(await box.open(sealed, purposeOf(id)))) }),
      ...(outcome === undefined ? {} : { outcome }),
    };
    return { attempt, versionstamp: record.versionstamp };
  }

  async #prune(): Promise<void> {
    const old: RecordKey[] = [];
    for await (const { key, value } of this.#store.list({ prefix: keys.pendingLogins() })) {
      const parsed = StoredPending.safeParse(value);
      if (!parsed.success || parsed.data.expiresAt <= Date.now()) old.push(key);
    }
    await deleteAll(this.#store, old);
  }
}

function purposeOf(id: string): string {
  return `pending login ${id}`;
}
