import { memberSpans, replaceSpan } from "../core/json_spans.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import type { ListedItem } from "./server_listing.ts";
import { canBecome, literalsOf } from "./uri_template.ts";

/** What stands before the URI of a resource whose own URI another server has too. */
const PREFIX = /^quartermaster:\/\/([A-Za-z0-9_-]{1,64})\/(.+)$/s;

/** Where a URI leads: a server, and the server's own URI. */
export interface ResourceRoute {
  server: ManagedServer;
  uri: string;
}

interface Template extends ResourceRoute {
  /** What stands between the expressions of the URI that clients know. */
  literals: readonly string[];
}

/**
 * The resources of several servers. URIs stay as they are, so that links in results lead somewhere;
 * of two servers that list the same one the second has its name put before it.
 */
export class CombinedResources {
  readonly #resources = new Map<string, ResourceRoute>();
  readonly #templates = new Map<string, Template>();
  /** By server and own URI, where that is not the URI clients see. */
  readonly #prefixed = new Map<string, string>();
  readonly resourceTexts: string[];
  readonly templateTexts: string[];

  constructor(resources: ListedItem[], templates: ListedItem[]) {
    this.resourceTexts = resources.flatMap((item) => this.#add(item, "uri"));
    this.templateTexts = templates.flatMap((item) => this.#add(item, "uriTemplate"));
  }

  /** The URI that clients know, for one that a server speaks of. */
  exposed(server: string, uri: string): string {
    return this.#prefixed.get(`${server} ${uri}`) ?? uri;
  }

  /** By what was listed; a URI that names one of the servers is never another one's. */
  find(uri: string, servers: readonly ManagedServer[]): ResourceRoute | undefined {
    const known = this.#resources.get(uri) ?? this.#templates.get(uri);
    if (known) return known;
    const [, name, rest] = PREFIX.exec(uri) ?? [];
    const named = servers.find((server) => server.name === name);
    for (const { server, literals } of this.#templates.values()) {
      if ((named && server !== named) || !canBecome(literals, uri)) continue;
      return { server, uri: server.name === name && rest !== undefined ? rest : uri };
    }
  }

  /** By the server named in it, or by the scheme, where just one server has such URIs. */
  guess(uri: string, servers: readonly ManagedServer[]): ResourceRoute | undefined {
    const [, name, rest] = PREFIX.exec(uri) ?? [];
    const named = servers.find((server) => server.name === name);
    if (named && rest !== undefined) return { server: named, uri: rest };
    const scheme = schemeOf(uri);
    const owners = new Set(
      [...this.#resources.values(), ...this.#templates.values()]
        .filter((route) => schemeOf(route.uri) === scheme).map(({ server }) => server),
    );
    const [only] = owners;
    return owners.size === 1 && only ? { server: only, uri } : undefined;
  }

  #add({ server, text, value }: ListedItem, member: "uri" | "uriTemplate"): string[] {
    const uri = value[member];
    if (typeof uri !== "string") return [];
    const known: Map<string, ResourceRoute> = member === "uri" ? this.#resources : this.#templates;
    const isTaken = known.has(uri);
    const exposed = isTaken ? `quartermaster://${server.name}/${uri}` : uri;
    if (member === "uri") this.#resources.set(exposed, { server, uri });
    else this.#templates.set(exposed, { server, uri, literals: literalsOf(exposed) });
    if (!isTaken) return [text];
    this.#prefixed.set(`${server.name} ${uri}`, exposed);
    return [replaceSpan(text, memberSpans(text).get(member)!, JSON.stringify(exposed))];
  }
}

function schemeOf(uri: string): string {
  return uri.slice(0, uri.indexOf(":") + 1);
}
