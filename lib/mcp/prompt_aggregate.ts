import { findCollisions, type OnPromptCollisions } from "../catalog/name_table.ts";
import { flatNames, namespacedName } from "../catalog/names.ts";
import type { McpRequest } from "../core/client.ts";
import { memberSpans, replaceSpan } from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import { type CallServer, type ListedItem, listValid } from "./server_lists.ts";

/** Lists younger than this are not asked for again to find something that is not in them. */
const FRESH_MS = 2_000;

interface PromptAggregateOptions {
  maxNameLength: number;
  list: CallServer;
  onPromptCollisions?: OnPromptCollisions | undefined;
}

/** Where a prompt's name leads: a server, and the server's own name of it. */
export interface PromptRoute {
  server: ManagedServer;
  name: string;
}

/** The prompts of several servers, under flat names. */
export class PromptAggregate {
  readonly #options: PromptAggregateOptions;
  #prompts = new Map<string, PromptRoute>();
  #listed = NEVER;

  constructor(options: PromptAggregateOptions) {
    this.#options = options;
  }

  /** The entries of a list of them all. */
  async load(servers: readonly ManagedServer[], request: McpRequest): Promise<string[]> {
    const items = await listValid(servers, "prompts", request, this.#options.list);
    const named = new Map<string, ListedItem>();
    for (const item of items) {
      if (typeof item.value.name !== "string") continue;
      named.set(namespacedName(item.server.name, item.value.name), item);
    }
    this.#prompts = new Map();
    this.#listed = { at: Date.now(), servers };
    const { maxNameLength } = this.#options;
    const names = flatNames(named.keys(), maxNameLength);
    const collisions = findCollisions(names, maxNameLength);
    this.#options.onPromptCollisions?.(servers.map(({ name }) => name), collisions);
    return Array.from(names, ([namespaced, flat]) => {
      const { server, value, text } = named.get(namespaced)!;
      this.#prompts.set(flat, { server, name: String(value.name) });
      return replaceSpan(text, memberSpans(text).get("name")!, JSON.stringify(flat));
    });
  }

  /** By its flat name, or by its server's name and its own; lists again what may be new. */
  async find(
    servers: readonly ManagedServer[],
    request: McpRequest,
    name: string,
  ): Promise<PromptRoute | undefined> {
    const find = () => {
      const route = this.#prompts.get(name) ??
        [...this.#prompts.values()].find((route) =>
          namespacedName(route.server.name, route.name) === name
        );
      return route && servers.includes(route.server) ? route : undefined;
    };
    const known = find();
    if (known || isFresh(this.#listed, servers)) return known;
    await this.load(servers, request);
    return find();
  }
}

/** When lists were loaded, and whose. */
export interface Listing {
  at: number;
  servers: readonly ManagedServer[];
}

export const NEVER: Listing = { at: 0, servers: [] };

export function isFresh(listed: Listing, servers: readonly ManagedServer[]): boolean {
  return Date.now() - listed.at < FRESH_MS && listed.servers.length === servers.length &&
    servers.every((server, index) => server === listed.servers[index]);
}
