import * as z from "zod";
import { AccessToken, ConsoleLogin, EVERYONE, Project } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { collection, formerly, Repository } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

const MOST_ATTEMPTS = 20;

export class AccessTokensRepository extends collection({
  noun: "token",
  key: keys.accessTokens,
  schema: AccessToken,
  idOf: ({ id }) => id,
}) {
  /** Saves what `make` returns for the existing tokens; calls it again if another was added meanwhile. */
  async add(make: (existing: readonly AccessToken[]) => AccessToken): Promise<AccessToken> {
    const last = keys.lastAccessToken();
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const versionstamp = (await this.store.read(last))?.versionstamp ?? null;
      const token = make(await this.values());
      const key = keys.accessTokens(token.id);
      const saved = await this.store.tryCommit({
        checks: [{ key: last, versionstamp }, { key, versionstamp: null }],
        sets: [{ key: last, value: { id: token.id } }, { key, value: token }],
      });
      if (saved !== undefined) return token;
    }
    throw new GatewayError("CONFLICT", {
      message: "Cannot create a token: too many are being created at once",
      recoveryAction: "Try again in a moment",
    });
  }

  /** Notes when it was last used; nobody need hear of that. */
  async touch(id: string, time: number): Promise<void> {
    const found = await this.find(id);
    if (!found) return;
    const key = keys.accessTokens(id);
    await this.store.tryCommit({
      checks: [{ key, versionstamp: found.versionstamp }],
      sets: [{ key, value: { ...found.value, lastUsedAt: time } }],
      announce: false,
    });
  }
}

export class ProjectsRepository extends collection({
  noun: "project",
  key: keys.projects,
  schema: Project,
  idOf: ({ name }) => name,
}) {}

export class ConsoleLoginsRepository extends collection({
  noun: "login",
  key: keys.consoleLogins,
  schema: ConsoleLogin,
  idOf: ({ hash }) => hash,
}) {}

/** How long a client may stay away and still go on with its session. */
const LIFETIME_MS = 24 * 60 * 60_000;

const SessionEntry = z.strictObject({
  id: z.string(),
  endpoint: z.string(),
  principal: z.string().default(EVERYONE),
  client: z.strictObject({
    protocolVersion: z.string(),
    capabilities: z.record(z.string(), z.unknown()),
    clientInfo: z.record(z.string(), z.unknown()).optional(),
  }),
  from: z.string().optional(),
  expiresAt: z.number(),
});
type SessionEntry = z.infer<typeof SessionEntry>;

const Sessions = collection({
  noun: "session",
  key: keys.sessions,
  schema: formerly("door", "endpoint", SessionEntry),
  idOf: ({ id }) => id,
  announce: false,
});

export class SessionsRepository extends Repository {
  readonly #entries = new Sessions(this.store);
  readonly #now: () => number;

  constructor(store: Store, now: () => number = Date.now) {
    super(store);
    this.#now = now;
  }

  async find(id: string): Promise<Omit<SessionEntry, "expiresAt"> | undefined> {
    const entry = (await this.#entries.find(id))?.value;
    return entry && entry.expiresAt > this.#now() ? entry : undefined;
  }

  save(session: Omit<SessionEntry, "expiresAt">): Promise<void> {
    return this.#entries.replace({ ...session, expiresAt: this.#now() + LIFETIME_MS });
  }

  delete(id: string): Promise<void> {
    return this.#entries.delete(id);
  }

  /** Removes what has expired; the store itself forgets nothing. */
  async prune(): Promise<void> {
    for (const { id, expiresAt } of await this.#entries.values()) {
      if (expiresAt <= this.#now()) await this.delete(id);
    }
  }
}

/** What calls have used of a limit, at all gateways together. */
export const LimitUse = z.strictObject({
  limit: z.string(),
  /** How many calls began in a second since the epoch, oldest first; some may be yet to begin. */
  begun: z.array(z.tuple([z.int(), z.int()])),
  /** Places for concurrent calls, by the lease of the gateway that has them. */
  places: z.record(z.string(), z.int()),
});
export type LimitUse = z.infer<typeof LimitUse>;

export class LimitUsesRepository extends collection({
  noun: "limit use",
  key: keys.limitUses,
  schema: LimitUse,
  idOf: ({ limit }) => limit,
  announce: false,
}) {}
