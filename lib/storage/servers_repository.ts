import * as z from "zod";
import { forwardNow } from "../core/clock.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerName, ServerSpec } from "../core/server.ts";
import { collection, type CollectionListOptions } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./records.ts";
import {
  type BoxSource,
  isPlain,
  openEntry,
  sealedMark,
  SealedRepository,
  sealEntry,
} from "./sealing.ts";
import type { Store } from "./store.ts";

export const AddedServer = z.strictObject({
  name: ServerName,
  spec: ServerSpec,
  addedAt: z.number(),
});
export type AddedServer = z.infer<typeof AddedServer>;

const StoredServer = AddedServer.extend(sealedMark);

const StoredServers = collection({
  noun: "server",
  key: keys.servers,
  schema: StoredServer,
  idOf: ({ name }) => name,
  missing: "SERVER_NOT_FOUND",
});

interface OpenedServer extends Stored<AddedServer> {
  /** Why its entry cannot be opened; then it comes as it is stored, and can be saved again. */
  problem?: string;
}

/** Servers that were added at run time; their secrets are sealed before they are written. */
export class ServersRepository extends SealedRepository {
  readonly #records = new StoredServers(this.store);

  constructor(store: Store, box: BoxSource = noBox) {
    super(store, box);
  }

  async find(name: string): Promise<OpenedServer | undefined> {
    const found = await this.#records.find(name);
    return found && await this.#open(found);
  }

  async resolve(name: string): Promise<OpenedServer> {
    return await this.#open(await this.#records.resolve(name));
  }

  /** In the order of the names. One that cannot be read is left out, with a warning. */
  async *list(options?: CollectionListOptions): AsyncGenerator<OpenedServer, void> {
    for await (const found of this.#records.list(options)) yield await this.#open(found);
  }

  async save(server: AddedServer, versionstamp: string | null): Promise<string> {
    return await this.#records.save(await sealEntry(server, this.box), versionstamp);
  }

  delete(name: string, versionstamp?: string): Promise<void> {
    return this.#records.delete(name, versionstamp);
  }

  /** Seals what an earlier version kept as it was; may be cut short anywhere and done again. */
  async sealPlain(): Promise<number> {
    let sealed = 0;
    for await (const { value: { sealed: _, ...server }, versionstamp } of this.#records.list()) {
      if (!isPlain(server.spec)) continue;
      try {
        await this.save(server, versionstamp);
        sealed++;
      } catch (error) {
        // Whoever saved it meanwhile has sealed it.
        if (!(error instanceof GatewayError && error.code === "CONFLICT")) throw error;
      }
    }
    return sealed;
  }

  async #open({ value, versionstamp }: Stored<z.infer<typeof StoredServer>>) {
    const { entry, ...rest } = await openEntry(value, this.box);
    return { value: entry, versionstamp, ...rest };
  }
}

function noBox(): Promise<never> {
  return Promise.reject(
    new GatewayError("SECRET_UNREADABLE", { message: "There is no secret key" }),
  );
}

const PausedServer = z.strictObject({ server: z.string(), pausedAt: z.number() });

/** The paused servers: no gateway connects to them, whether they are in a file or in the store. */
export class PausedServersRepository extends collection({
  noun: "paused server",
  key: keys.pausedServers,
  schema: PausedServer,
  idOf: ({ server }) => server,
}) {
  async set(server: string, isPaused: boolean): Promise<boolean> {
    const found = await this.find(server);
    if (isPaused === (found !== undefined)) return false;
    if (isPaused) await this.save({ server, pausedAt: Date.now() }, null);
    else await this.delete(server);
    return true;
  }

  async names(): Promise<Set<string>> {
    return new Set((await this.values()).map(({ server }) => server));
  }
}

const ServerEra = z.strictObject({
  server: ServerName,
  /** A hash of the entry and its secrets: another one may lead to another server. */
  entry: z.string(),
  era: z.enum(["sessions", "stateless"]),
  /** What the server called itself. */
  version: z.string(),
  /** Whether it was heard asking without naming the call it asks for. */
  asks: z.literal(true).optional(),
  at: z.number(),
});
export type ServerEra = z.infer<typeof ServerEra>;

/** What each server spoke when it was last connected. */
export class ServerErasRepository extends collection({
  noun: "server's revision",
  key: keys.serverEras,
  schema: ServerEra,
  idOf: ({ server }) => server,
}) {}

const TaskOwner = z.strictObject({
  server: z.string(),
  /** The caller and the task's id. */
  task: z.string(),
  /** The lease of the gateway that started the task and holds its connection. */
  instance: z.string(),
  expiresAt: z.number(),
});
type TaskOwner = z.infer<typeof TaskOwner>;

/** The caller that started each task of a server. */
export class TaskOwnersRepository extends collection({
  noun: "task",
  key: keys.taskOwners,
  schema: TaskOwner,
  idOf: ({ server, task }) => [server, task],
  announce: false,
}) {
  /** Never fails: a task that is not recorded is known only to this gateway. */
  async note(owner: TaskOwner): Promise<void> {
    try {
      await this.replace(owner);
    } catch (error) {
      this.store.warn("Cannot record who started a task", { error });
    }
  }

  async prune(now = Date.now()): Promise<void> {
    for (const { server, task, expiresAt } of await this.values()) {
      if (expiresAt <= now) await this.delete([server, task]);
    }
  }
}

const GivenLink = z.strictObject({
  principal: z.string(),
  uri: z.string(),
  server: z.string(),
  expiresAt: z.number(),
});
type GivenLink = z.infer<typeof GivenLink>;

const LINK_KEPT_MS = 24 * 60 * 60_000;
const LINKS_PRUNED_EVERY_MS = 60 * 60_000;

/** Which servers gave a caller a URI that does not name its server. */
export class GivenLinksRepository extends collection({
  noun: "link",
  key: keys.givenLinks,
  schema: GivenLink,
  idOf: ({ principal, uri, server }) => [principal, uri, server],
  announce: false,
}) {
  #prunedAt = 0;

  /** Never fails: a link that is not recorded is known only to the session that got it. */
  async note(link: Omit<GivenLink, "expiresAt">, now = Date.now()): Promise<void> {
    try {
      await this.replace({ ...link, expiresAt: now + LINK_KEPT_MS });
      if (now - this.#prunedAt >= LINKS_PRUNED_EVERY_MS) await this.#prune(now);
    } catch (error) {
      this.store.warn("Cannot record which server gave a link", { error });
    }
  }

  async serversOf(principal: string, uri: string, now = forwardNow()): Promise<string[]> {
    const links = await this.values({ under: [principal, uri] });
    return links.filter(({ expiresAt }) => expiresAt > now).map(({ server }) => server);
  }

  async #prune(now: number): Promise<void> {
    this.#prunedAt = now;
    for (const { principal, uri, server, expiresAt } of await this.values()) {
      if (expiresAt <= now) await this.delete([principal, uri, server]);
    }
  }
}

const OfferedList = z.strictObject({
  server: ServerName,
  /** Identifies the capabilities of the clients that get this list. */
  offer: z.string(),
  /** Identifies the server, its version and its list for everyone: if one changes, so may this list. */
  stamp: z.string(),
  tools: z.array(z.string()),
  at: z.number(),
});
type OfferedList = z.infer<typeof OfferedList>;

/** Lists of each server, stored and in memory; clients may offer anything. */
export const MOST_OFFERS = 20;

/** Tools that servers list to clients that offer capabilities. */
export class OfferedListsRepository extends collection({
  noun: "tool list",
  key: keys.offeredLists,
  schema: OfferedList,
  idOf: ({ server, offer }) => [server, offer],
  announce: false,
}) {
  /** Replaces the oldest if there are too many. */
  async note(list: OfferedList): Promise<void> {
    await this.replace(list);
    const lists = await this.values({ under: [list.server] });
    for (const { server, offer } of lists.sort((a, b) => b.at - a.at).slice(MOST_OFFERS)) {
      await this.delete([server, offer]);
    }
  }
}
