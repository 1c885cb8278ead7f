import { createHash } from "node:crypto";
import type { ServerEra, ServerErasRepository } from "../storage/servers_repository.ts";
import type { Connection } from "./connection.ts";
import type { Era } from "./negotiation.ts";
import type { PooledServer } from "./server.ts";

/** A server that had sessions is probed again after this long: it may speak 2026-07-28 as well by now. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

export type KnownEra = Pick<ServerEra, "era" | "version" | "asks">;

/**
 * Remembers which revision each server spoke, so that it need not be probed at every start. Kept for
 * an entry with its secrets: with other credentials an address may lead to another server.
 */
export class EraMemory {
  readonly #records: ServerErasRepository;

  constructor(records: ServerErasRepository) {
    this.#records = records;
  }

  async recall(server: PooledServer): Promise<KnownEra | undefined> {
    const known = (await this.#records.find(server.name))?.value;
    if (known?.entry !== entryHash(server)) return undefined;
    return known.era === "sessions" && known.at < Date.now() - KEPT_MS ? undefined : known;
  }

  async note(server: PooledServer, { era, version, asks }: KnownEra): Promise<void> {
    const record = { server: server.name, entry: entryHash(server), era, version, at: Date.now() };
    await this.#records.replace(asks ? { ...record, asks } : record);
  }

  async forget({ name }: PooledServer): Promise<void> {
    await this.#records.delete(name);
  }
}

/** What one server spoke last; asked of the store once for each of its entries. */
export class LastEra {
  readonly #memory: EraMemory | undefined;
  #entry: PooledServer | undefined;
  #known: Promise<KnownEra | undefined> = Promise.resolve(undefined);
  #asksUnnamed = false;

  constructor(memory: EraMemory | undefined) {
    this.#memory = memory;
  }

  async of(server: PooledServer): Promise<Era | undefined> {
    return (await this.#recall(server))?.era;
  }

  /**
   * Whether the server's questions may come without the call they belong to. Then calls of clients that
   * share a session must not share a connection.
   */
  get asksUnnamed(): boolean {
    return this.#asksUnnamed;
  }

  async noteAsking(server: PooledServer): Promise<void> {
    if (this.#asksUnnamed) return;
    this.#asksUnnamed = true;
    const known = await this.#recall(server);
    if (!known) return;
    this.#known = Promise.resolve({ ...known, asks: true });
    await this.#memory?.note(server, { ...known, asks: true });
  }

  async note(server: PooledServer, { nextEra: era, info }: Connection): Promise<void> {
    const known = await this.#recall(server);
    const { name, version: number } = info.serverInfo;
    const version = `${name} ${number}`;
    if (known?.era === era && known.version === version) return;
    // Another version that was not probed may speak more: the next connection finds out.
    const isUnsure = known?.era === "sessions" && era === "sessions";
    const now = this.#asksUnnamed ? { era, version, asks: true as const } : { era, version };
    this.#known = Promise.resolve(isUnsure ? undefined : now);
    if (isUnsure) await this.#memory?.forget(server);
    else await this.#memory?.note(server, now);
  }

  /** It failed to start, perhaps because of the probe: the next try does without. */
  doubt(server: PooledServer): void {
    const known = this.#recall(server);
    this.#known = known.then((era) => era ?? { era: "sessions", version: "" });
  }

  #recall(server: PooledServer): Promise<KnownEra | undefined> {
    if (this.#entry !== server) {
      this.#entry = server;
      this.#asksUnnamed = false;
      this.#known = this.#memory?.recall(server).catch(() => undefined) ??
        Promise.resolve(undefined);
      void this.#known.then((known) => this.#asksUnnamed ||= known?.asks ?? false);
    }
    return this.#known;
  }
}

/** Identifies an entry including its secrets: with other secrets it may lead to another server. */
export function entryHash({ spec, secretsStamp = "" }: PooledServer): string {
  const place = "url" in spec
    ? [spec.url, spec.headers]
    : "command" in spec
    ? [spec.command, spec.args, spec.env, spec.cwd]
    : [];
  const text = JSON.stringify([spec.type, place, secretsStamp]);
  return createHash("sha256").update(text).digest("base64url");
}
