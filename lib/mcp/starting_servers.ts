import type { Catalog } from "../catalog/catalog.ts";
import { asAbortSignal, type CancelSignal, settledWithin } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import { isAway, isStarting, type ServerStatus } from "../core/server.ts";
import type { ServerPool } from "../servers/pool.ts";
import { RENEWAL_MS } from "../servers/tool_list.ts";
import { ownerAmong } from "../catalog/resolve.ts";

/** How long a tool list waits for servers that have just begun to connect. */
const SETTLE_MS = 3_000;
/** Above this many servers, only their number is given. */
const MOST_NAMED = 5;

interface StartingServersOptions {
  pool: Pick<ServerPool, "list" | "find">;
  catalog: Catalog;
  admits(principal: string, server: string): boolean;
}

export class StartingServers {
  readonly #options: StartingServersOptions;

  constructor(options: StartingServersOptions) {
    this.#options = options;
  }

  of(principal: string): ServerStatus[] {
    const { pool, admits } = this.#options;
    return pool.list().filter(({ name, state }) => isStarting(state) && admits(principal, name));
  }

  /** Servers that are not up, starting or not, and so may have unknown tools. */
  away(principal: string): ServerStatus[] {
    const { pool, admits } = this.#options;
    return pool.list().filter((status) => isAway(status) && admits(principal, status.name));
  }

  /** What to add to a list of tools that lacks some: whose, as data and as a sentence. */
  missingFrom(principal: string): { starting?: string[]; note?: string } {
    const starting = this.of(principal).map(({ name }) => name)
      // Tools known from the last run are in the list.
      .filter((name) => this.#options.catalog.of(name).tools.length === 0);
    return starting.length === 0 ? {} : { starting, note: stillStarting(starting) };
  }

  settled(servers: Iterable<string>, signal: CancelSignal): Promise<void> | undefined {
    const now = Date.now();
    // Does not wait for slow servers or those with known tools: one would delay every list.
    const known = [...new Set(servers)].flatMap((name) => this.#options.pool.find(name) ?? []);
    const coming = known.filter(({ name, status }) =>
      isStarting(status.state) && now - status.since < SETTLE_MS &&
      this.#options.catalog.of(name).tools.length === 0
    );
    const renewed = known.flatMap(({ toolList }) => toolList.renewed() ?? []);
    if (coming.length === 0 && renewed.length === 0) return undefined;
    const ended = asAbortSignal(signal);
    const limit = AbortSignal.any([ended, AbortSignal.timeout(SETTLE_MS)]);
    return Promise.allSettled([
      ...coming.map((server) => server.connection(limit)),
      ...renewed.map((one) => settledWithin(one, RENEWAL_MS, ended)),
    ]).then(() => {});
  }

  /** For how long a list of all their tools is good, if one of them has said that. */
  ttlMs(servers: Iterable<string>): number | undefined {
    const known = [...new Set(servers)].flatMap((name) => this.#options.pool.find(name) ?? []);
    const said = known.flatMap(({ toolList }) => toolList.ttlMs ?? []);
    return said.length === 0 ? undefined : Math.min(...said);
  }

  /** If the name may be a tool of a starting server, waits for that server and tries once more. */
  async await<T>(
    principal: string,
    name: string,
    find: () => T,
    signal: CancelSignal | undefined,
  ): Promise<T> {
    try {
      return find();
    } catch (error) {
      if (!isStillStarting(error)) throw error;
      const owner = ownerAmong(this.of(principal), name);
      await (owner && this.#options.pool.find(owner.name))?.connection(signal);
      return find();
    }
  }
}

export function isStillStarting(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "SERVER_STARTING";
}

/** "2 servers are still starting (git, jira): their tools are not included yet" */
export function stillStarting(names: readonly string[]): string {
  const named = names.length > MOST_NAMED ? "" : ` (${names.join(", ")})`;
  return names.length === 1
    ? `1 server is still starting${named}: its tools are not included yet`
    : `${names.length} servers are still starting${named}: their tools are not included yet`;
}
