import type { ManagedServer } from "../servers/server.ts";
import type { ListedItem } from "./server_lists.ts";
import { canBecome, literalsOf } from "./content_screen.ts";
import { eachMember, elementSpans, memberSpans, replaceSpan, type Span } from "../core/rpc.ts";

/** A URI that names its server: see `exposed`. */
const PREFIX = /^quartermaster:\/\/([A-Za-z0-9_-]{1,64})\/(.+)$/s;

/** Where a URI leads: a server, and the server's own URI. */
export interface ResourceRoute {
  server: ManagedServer;
  uri: string;
}

interface Template extends ResourceRoute {
  literals: readonly string[];
}

/** Schemes whose URIs mean the same to everybody, and which clients may open themselves. */
const GLOBAL = /^(?:https?|file|data|mailto):/i;

export function isGlobal(uri: string): boolean {
  return GLOBAL.test(uri);
}
/** What is remembered has to end somewhere. */
const MOST_CLAIMS = 10_000;

/**
 * The resources of several servers. A URI that a server lists stays as it is. If two servers list the
 * same one, the first by name keeps it, and for as long as the client is connected; the other's, and
 * every URI in results that its server does not list, names its server. Pages (`ui://`) and skills
 * (`skill://`) always do.
 */
export class ResourceAggregate {
  readonly #resources = new Map<string, ResourceRoute>();
  readonly #templates = new Map<string, Template>();
  /** By server and own URI, where that is not the URI clients see. */
  readonly #prefixed = new Map<string, string>();
  readonly resourceTexts: string[];
  readonly templateTexts: string[];

  /** By URI: the server to which it belongs since an earlier list. */
  readonly #claims: Map<string, string>;

  constructor(
    resources: ListedItem[],
    templates: ListedItem[],
    claims: Map<string, string> = new Map(),
  ) {
    this.#claims = claims;
    this.resourceTexts = resources.flatMap((item) => this.#add(item, "uri"));
    this.templateTexts = templates.flatMap((item) => this.#add(item, "uriTemplate"));
  }

  /** The URI that clients know, for one that a server speaks of. */
  exposed(server: string, uri: string): string {
    if (isScoped(uri)) return scopedUri(server, uri);
    const prefixed = this.#prefixed.get(`${server} ${uri}`);
    if (prefixed !== undefined) return prefixed;
    const owner = this.#resources.get(uri) ?? this.#templateFor(uri);
    const isPlain = owner ? owner.server.name === server : isGlobal(uri);
    return isPlain ? uri : namedUri(server, uri);
  }

  /** All servers that list a URI, or a template that can become it, by their own URIs. */
  owners(uri: string): ManagedServer[] {
    const listed = [...this.#resources.values()].filter((route) => route.uri === uri);
    const routes = listed.length > 0
      ? listed
      : [...this.#templates.values()].filter((route) => canBecome(literalsOf(route.uri), uri));
    return [...new Set(routes.map(({ server }) => server))];
  }

  #templateFor(uri: string): ResourceRoute | undefined {
    return this.#templates.values().find(({ literals }) => canBecome(literals, uri));
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
    const named = parseNamedUri(uri, servers);
    if (named) return named;
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
    const isTaken = known.has(uri) || (this.#claims.get(uri) ?? server.name) !== server.name;
    if (!isScoped(uri) && isTaken) {
      this.#prefixed.set(`${server.name} ${uri}`, namedUri(server.name, uri));
    } else if (this.#claims.size < MOST_CLAIMS) this.#claims.set(uri, server.name);
    const exposed = isScoped(uri)
      ? scopedUri(server.name, uri)
      : this.#prefixed.get(`${server.name} ${uri}`) ?? uri;
    if (member === "uri") this.#resources.set(exposed, { server, uri });
    else this.#templates.set(exposed, { server, uri, literals: literalsOf(exposed) });
    if (exposed === uri) return [text];
    return [replaceSpan(text, memberSpans(text).get(member)!, JSON.stringify(exposed))];
  }
}

/** The form of a URI that leads to its server without any list. */
export function unambiguousUri(server: string, uri: string): string {
  return isScoped(uri) ? scopedUri(server, uri) : namedUri(server, uri);
}

/** A URI that names its server; it leads there without any list. */
function namedUri(server: string, uri: string): string {
  return `quartermaster://${server}/${uri}`;
}

/** Where a URI leads that names one of the servers. */
export function parseNamedUri(
  uri: string,
  servers: readonly ManagedServer[],
): ResourceRoute | undefined {
  const [, name, rest] = PREFIX.exec(uri) ?? [];
  const server = servers.find((server) => server.name === name);
  return server && rest !== undefined ? { server, uri: rest } : undefined;
}

function schemeOf(uri: string): string {
  return uri.slice(0, uri.indexOf(":") + 1);
}

// Pages of MCP Apps (`ui://`) and files of skills (`skill://`) at endpoints that combine several
// servers. Their URIs there always name their server, in the authority, not only on a clash: tools point
// at pages by URI, so a shared URI would show one server's page under another server's tool; and a
// skill's files lie below its own URI.

const SCOPED = /^(ui|skill):\/\/(.+)$/s;
const EXPOSED = /^(ui|skill):\/\/([A-Za-z0-9_-]{1,64})\.quartermaster\/(.+)$/s;
/** Members that refer to a page, in definitions and in results. */
const PAGES = new Set(["uri", "resourceUri", "ui/resourceUri"]);
/** Members of a result that hold such references; everything else is the tool's data. */
const REFERRING = new Set([
  "content",
  "contents",
  "messages",
  "resources",
  "skill",
  "skills",
  "_meta",
]);
/** What a skill says of itself, which clients compare with its file. */
const VERBATIM = "frontmatter";
/** References are at most this deep; deeper values are ignored. */
const MAX_DEPTH = 6;

export function isScoped(uri: string): boolean {
  return SCOPED.test(uri);
}

export function scopedUri(server: string, uri: string): string {
  const [, scheme, rest] = SCOPED.exec(uri)!;
  return `${scheme}://${server}.quartermaster/${rest}`;
}

export function parseScopedUri(uri: string): { server: string; uri: string } | undefined {
  const [, scheme, server, rest] = EXPOSED.exec(uri) ?? [];
  return server === undefined ? undefined : { server, uri: `${scheme}://${rest}` };
}

/** A tool's definition that points at its page under the URI that clients know. */
export function withExposedPage(server: string, definition: string): string {
  const meta = definition.includes('"_meta"') ? memberSpans(definition).get("_meta") : undefined;
  if (!meta) return definition;
  return exposeIn(
    definition,
    referencesIn(definition, meta, true),
    (uri) => scopedUri(server, uri),
  );
}

/** The entry of a list that refers to resources under the URIs that clients know. */
export function withExposedEntry(entry: string, exposed: (uri: string) => string): string {
  const place = { start: 0, end: entry.length };
  return exposeIn(entry, referencesIn(entry, place, false), exposed);
}

/** Whether an answer may refer to resources; nearly none does. */
export function mayRefer(answer: string): boolean {
  return answer.includes('"uri"') || answer.includes("ui:");
}

/** A server's answer that refers to resources under the URIs that clients know. */
export function withExposedUris(answer: string, exposed: (uri: string) => string): string {
  if (!mayRefer(answer)) return answer;
  const result = memberSpans(answer).get("result");
  return result ? exposeIn(answer, referencesOf(answer, result), exposed) : answer;
}

/** The references in a result; the result of a finished task has another one in it. */
function referencesOf(text: string, result: Span, depth = 0): Reference[] {
  if (text[result.start] !== "{" || depth > 1) return [];
  const found: Reference[] = [];
  eachMember(text, result.start, (name, span) => {
    if (name === "result") found.push(...referencesOf(text, span, depth + 1));
    else if (REFERRING.has(name)) found.push(...referencesIn(text, span, name === "_meta"));
  });
  return found;
}

function exposeIn(
  text: string,
  references: readonly Reference[],
  exposed: (uri: string) => string,
): string {
  let out = "";
  let end = 0;
  for (const { span, uri } of references) {
    out += text.slice(end, span.start) + JSON.stringify(exposed(uri));
    end = span.end;
  }
  return out + text.slice(end);
}

/** A reference to a resource, with its place in the text. */
interface Reference {
  span: Span;
  uri: string;
}

/** References in a value; in `_meta`, whose members can mean anything, only those to pages. */
function referencesIn(text: string, place: Span, isMeta: boolean, depth = 0): Reference[] {
  if (depth > MAX_DEPTH) return [];
  if (text[place.start] === "[") {
    return elementSpans(text, place.start)
      .flatMap((span) => referencesIn(text, span, isMeta, depth + 1));
  }
  const found: Reference[] = [];
  if (text[place.start] === "{") {
    eachMember(text, place.start, (name, span) => {
      if (text[span.start] !== '"') {
        if (name === VERBATIM) return;
        found.push(...referencesIn(text, span, isMeta || name === "_meta", depth + 1));
      } else if (PAGES.has(name)) {
        const uri: string = JSON.parse(text.slice(span.start, span.end));
        if (isScoped(uri) || (!isMeta && name === "uri")) found.push({ span, uri });
      }
    });
  }
  return found;
}
