import { createHash } from "node:crypto";
import type { ServerEra, ServerErasRepository } from "../storage/servers_repository.ts";
import type { ServerInfo } from "./negotiation.ts";
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

/** What a server calls itself, to tell when another version of it runs. */
export function versionOf({ serverInfo: { name, version } }: ServerInfo): string {
  return `${name} ${version}`;
}

function entryHash({ spec, secretsStamp = "" }: PooledServer): string {
  const place = "url" in spec
    ? [spec.url, spec.headers]
    : "command" in spec
    ? [spec.command, spec.args, spec.env, spec.cwd]
    : [];
  const text = JSON.stringify([spec.type, place, secretsStamp]);
  return createHash("sha256").update(text).digest("base64url");
}
