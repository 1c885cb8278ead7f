import type { ManagedServer } from "../servers/server.ts";
import type { ListedItem } from "./server_lists.ts";
import { canBecome, literalsOf } from "./content_screen.ts";
import { eachMember, elementSpans, memberSpans, replaceSpan, type Span } from "../core/rpc.ts";

/** What stands before the URI of a resource whose own URI another server has too. */
const PREFIX = /^quartermaster:\/\/([A-Za-z0-9_-]{1,64})\/(.+)$/s;

/** Where a URI leads: a server, and the server's own URI. */
export interface ResourceRoute {
  server: ManagedServer;
  uri: string;
}

interface Template extends ResourceRoute {
  literals: readonly string[];
}

/**
 * The resources of several servers. URIs stay as they are, so that links in results lead somewhere;
 * of two servers that list the same one the second has its name put before it. Only pages (`ui://`)
 * always name their server.
 */
export class ResourceAggregate {
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
    if (isPage(uri)) return exposedPage(server, uri);
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
    if (!isPage(uri) && known.has(uri)) {
      this.#prefixed.set(`${server.name} ${uri}`, `quartermaster://${server.name}/${uri}`);
    }
    const exposed = this.exposed(server.name, uri);
    if (member === "uri") this.#resources.set(exposed, { server, uri });
    else this.#templates.set(exposed, { server, uri, literals: literalsOf(exposed) });
    if (exposed === uri) return [text];
    return [replaceSpan(text, memberSpans(text).get(member)!, JSON.stringify(exposed))];
  }
}

function schemeOf(uri: string): string {
  return uri.slice(0, uri.indexOf(":") + 1);
}

// Pages of MCP Apps (`ui://` resources) at endpoints that combine several servers. A page's URI there
// always names its server, not only on a clash: tools point at pages by URI, so a shared URI would
// show one server's page under another server's tool.

const SCHEME = "ui://";
const EXPOSED = /^ui:\/\/([A-Za-z0-9_-]{1,64})\.quartermaster\/(.+)$/s;
/** Members that refer to a resource, in definitions and in results. */
const REFERENCES = new Set(["uri", "resourceUri", "ui/resourceUri"]);
/** Members of a result that hold such references; everything else is the tool's data. */
const REFERRING = new Set(["content", "contents", "messages", "_meta"]);
/** References are at most this deep; deeper values are ignored. */
const MAX_DEPTH = 6;

export function isPage(uri: string): boolean {
  return uri.startsWith(SCHEME) && uri.length > SCHEME.length;
}

export function exposedPage(server: string, uri: string): string {
  return `${SCHEME}${server}.quartermaster/${uri.slice(SCHEME.length)}`;
}

export function parseExposedPage(uri: string): { server: string; uri: string } | undefined {
  const [, server, rest] = EXPOSED.exec(uri) ?? [];
  return server === undefined ? undefined : { server, uri: `${SCHEME}${rest}` };
}

/** A tool's definition that points at its page under the URI that clients know. */
export function withExposedPage(server: string, definition: string): string {
  const meta = definition.includes('"_meta"') ? memberSpans(definition).get("_meta") : undefined;
  return meta ? exposeIn(definition, [meta], server) : definition;
}

/** A server's answer that refers to pages under the URIs that clients know. */
export function withExposedPages(server: string, answer: string): string {
  // Nearly all answers end here.
  if (!answer.includes("ui:")) return answer;
  const result = memberSpans(answer).get("result");
  if (!result || answer[result.start] !== "{") return answer;
  const referring: Span[] = [];
  eachMember(answer, result.start, (name, span) => {
    if (REFERRING.has(name)) referring.push(span);
  });
  return exposeIn(answer, referring, server);
}

function exposeIn(text: string, places: Span[], server: string): string {
  let out = "";
  let end = 0;
  for (const { span, uri } of places.flatMap((place) => pagesIn(text, place))) {
    out += text.slice(end, span.start) + JSON.stringify(exposedPage(server, uri));
    end = span.end;
  }
  return out + text.slice(end);
}

/** References to pages, with their places in the text. */
function pagesIn(text: string, place: Span, depth = 0): { span: Span; uri: string }[] {
  if (depth > MAX_DEPTH) return [];
  if (text[place.start] === "[") {
    return elementSpans(text, place.start).flatMap((span) => pagesIn(text, span, depth + 1));
  }
  const found: { span: Span; uri: string }[] = [];
  if (text[place.start] === "{") {
    eachMember(text, place.start, (name, span) => {
      if (text[span.start] !== '"') found.push(...pagesIn(text, span, depth + 1));
      else if (REFERENCES.has(name)) {
        const uri: string = JSON.parse(text.slice(span.start, span.end));
        if (isPage(uri)) found.push({ span, uri });
      }
    });
  }
  return found;
}
