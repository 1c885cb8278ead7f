import { z } from "zod";
import { EVERYONE } from "../core/principal.ts";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** How long a client may stay away and still go on with its session. */
const LIFETIME_MS = 24 * 60 * 60_000;

const SessionEntry = z.strictObject({
  id: z.string(),
  door: z.string(),
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

/** What of clients' sessions outlives a process; nobody's news, so never announced. */
export class SessionsRepository {
  readonly #store: Store;
  readonly #entries: Collection<SessionEntry>;
  readonly #now: () => number;

  constructor(store: Store, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
    this.#entries = new Collection(store, {
      noun: "session",
      prefix: keys.sessions(),
      key: keys.session,
      schema: SessionEntry,
      idOf: ({ id }) => id,
      announce: false,
    });
  }

  async find(id: string): Promise<Omit<SessionEntry, "expiresAt"> | undefined> {
    const entry = (await this.#entries.find(id))?.value;
    return entry && entry.expiresAt > this.#now() ? entry : undefined;
  }

  /** Keeps it from now on for another lifetime. */
  async save(session: Omit<SessionEntry, "expiresAt">): Promise<void> {
    const value: SessionEntry = { ...session, expiresAt: this.#now() + LIFETIME_MS };
    await this.#store.commit({ sets: [{ key: keys.session(session.id), value }], announce: false });
  }

  async delete(id: string): Promise<void> {
    await this.#entries.delete(id);
  }

  /** Removes what has expired; the store itself forgets nothing. */
  async prune(): Promise<void> {
    for await (const { value } of this.#entries.list()) {
      if (value.expiresAt <= this.#now()) await this.delete(value.id);
    }
  }
}
