import { createHash } from "node:crypto";
import type { ServerEra, ServerErasRepository } from "../storage/servers_repository.ts";
import type { Connection } from "./connection.ts";
import type { Era } from "./negotiation.ts";
import type { PooledServer } from "./server.ts";

/** A server that had sessions is probed again after this long: it may speak 2026-07-28 as well by now. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

export type KnownEra = Pick<ServerEra, "era" | "version">;

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

  async note(server: PooledServer, { era, version }: KnownEra): Promise<void> {
    const entry = entryHash(server);
    await this.#records.replace({ server: server.name, entry, era, version, at: Date.now() });
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

  constructor(memory: EraMemory | undefined) {
    this.#memory = memory;
  }

  async of(server: PooledServer): Promise<Era | undefined> {
    return (await this.#recall(server))?.era;
  }

  async note(server: PooledServer, { nextEra: era, info }: Connection): Promise<void> {
    const known = await this.#recall(server);
    const { name, version: number } = info.serverInfo;
    const version = `${name} ${number}`;
    if (known?.era === era && known.version === version) return;
    // Another version that was not probed may speak more: the next connection finds out.
    const isUnsure = known?.era === "sessions" && era === "sessions";
    this.#known = Promise.resolve(isUnsure ? undefined : { era, version });
    if (isUnsure) await this.#memory?.forget(server);
    else await this.#memory?.note(server, { era, version });
  }

  /** It failed to start, perhaps because of the probe: the next try does without. */
  doubt(server: PooledServer): void {
    const known = this.#recall(server);
    this.#known = known.then((era) => era ?? { era: "sessions", version: "" });
  }

  #recall(server: PooledServer): Promise<KnownEra | undefined> {
    if (this.#entry !== server) {
      this.#entry = server;
      this.#known = this.#memory?.recall(server).catch(() => undefined) ??
        Promise.resolve(undefined);
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
