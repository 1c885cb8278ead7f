import { getOrMake } from "../core/defined.ts";
import type { McpRequest } from "../core/client.ts";
import { elementTexts, errorText, memberSpans, memberText, replaceSpan } from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import { abortable } from "../core/async.ts";
import { callShared, listFromAll, type ListName, LISTS, SKILLS_LIST } from "./server_lists.ts";
import type { TextScreen } from "../trust/text_screen.ts";
import { completionRef, type ContentRef } from "./call.ts";

const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** Decides what of a server's texts no model should read. */
export type ContentRules = Pick<TextScreen, "instructions" | "list">;

/** Hides prompts and resources of servers that no caller may see, at all endpoints. */
export class ContentScreen {
  readonly rules: ContentRules;
  readonly #known = new WeakMap<ManagedServer, ServerContentScreen>();

  constructor(rules: ContentRules) {
    this.rules = rules;
  }

  /** Follows the server's list changes from then on, for as long as the server exists. */
  of(server: ManagedServer): ServerContentScreen {
    return getOrMake(this.#known, server, () => {
      const screen = new ServerContentScreen(server, this.rules);
      server.onBroadcast((text) => screen.heard(text));
      return screen;
    });
  }

  async shown(server: ManagedServer, method: string, response: string): Promise<string> {
    const kind = LIST_NAMES.find((name) => LISTS[name].method === method);
    const listed = method === SKILLS_LIST ? "skills" : kind;
    const span = listed && memberSpans(response).get("result");
    if (!listed || !span) return response;
    const result = response.slice(span.start, span.end);
    const shown = await this.rules.list(server.name, listed, result);
    if (shown === result) return response;
    if (kind) await this.of(server).learn(kind, response);
    return replaceSpan(response, span, shown);
  }
}

/** An older list is requested again, beside the request that looks into it. */
const FRESH_MS = 30_000;
/** Only a hostile server has more entries than these. */
const MOST_HIDDEN = 10_000;
const MOST_SHOWN = 100_000;
/** A server that announces changes all the time is not followed for longer. */
const LOOKS = 2;

interface Entry {
  /** As it is written, and as a server has it that parses URIs before it compares them. */
  forms: readonly string[];
  /** The same two of a template, in parts. */
  literals: readonly (readonly string[])[];
}

interface KnownList {
  /** Whether the server has announced no change since the last look. */
  isKnown: boolean;
  lookedAt: number;
  looking?: Promise<void> | undefined;
  /** Counts the looks, so that an older one does not undo what a later one has found. */
  begun: number;
  taken: number;
  /** Entries that no caller may see, by name: whether that still holds is asked each time. */
  hidden: Map<string, Entry & { text: string }>;
  shown: Map<string, Entry>;
}

const unknownList = (): KnownList => ({
  isKnown: false,
  lookedAt: -Infinity,
  begun: 0,
  taken: 0,
  hidden: new Map(),
  shown: new Map(),
});

/** Keeps callers from the prompts and resources of one server that the rules leave out of its lists. */
export class ServerContentScreen {
  readonly #server: ManagedServer;
  readonly #rules: ContentRules;
  readonly #now: () => number;
  readonly #lists = {
    prompts: unknownList(),
    resources: unknownList(),
    resourceTemplates: unknownList(),
  };

  constructor(server: ManagedServer, rules: ContentRules, now: () => number = Date.now) {
    this.#server = server;
    this.#rules = rules;
    this.#now = now;
  }

  /** The answer to a request for what does not exist for callers; undefined where it may do. */
  async refusal(request: McpRequest): Promise<string | undefined> {
    const asked = requestedEntry(request);
    if (!asked) return undefined;
    const { kind, name, code } = asked;
    if (kind === "prompt") {
      await this.#look("prompts", request);
      if (!await this.#isHidden("prompts", name)) return undefined;
    } else {
      await Promise.all([
        this.#look("resources", request),
        this.#look("resourceTemplates", request),
      ]);
      if (!await this.#isResourceHidden(name)) return undefined;
    }
    return errorText(request.id, code, `There is no ${kind} ${JSON.stringify(name)} here`);
  }

  /** Records a page of a list from which something was left out for a client. */
  async learn(kind: ListName, answer: string): Promise<void> {
    const list = memberText(memberText(answer, "result") ?? "{}", kind);
    if (list !== undefined) await this.#take(kind, elementTexts(list), this.#lists[kind].shown);
  }

  heard(text: string): void {
    if (!text.includes("/list_changed")) return;
    for (const list of Object.values(this.#lists)) {
      list.isKnown = false;
      list.looking = undefined;
    }
  }

  /** Under any of its forms: nobody knows by which of them the server goes. */
  async #isResourceHidden(uri: string): Promise<boolean> {
    const { resources, resourceTemplates } = this.#lists;
    for (const form of formsOf(uri)) {
      if (await this.#isHidden("resources", form)) return true;
      if (resources.shown.has(form)) continue;
      // One that callers do see leads there as well.
      if (resourceTemplates.shown.values().some((entry) => leadsTo(entry, form))) continue;
      if (await this.#isHidden("resourceTemplates", form)) return true;
    }
    return false;
  }

  async #isHidden(kind: ListName, name: string): Promise<boolean> {
    const entries = [...this.#lists[kind].hidden.values().filter((entry) => leadsTo(entry, name))];
    for (const { text } of entries) if (!await this.#isShown(kind, text)) return true;
    return false;
  }

  /** Whether the entry of a list is one for callers, by what was decided of it up to here. */
  async #isShown(kind: ListName, text: string): Promise<boolean> {
    const list = `{"${kind}":[${text}]}`;
    return await this.#rules.list(this.#server.name, kind, list) === list;
  }

  /** One look for all callers that ask meanwhile. Nobody waits for a list that is only old. */
  async #look(kind: ListName, request: McpRequest): Promise<void> {
    const list = this.#lists[kind];
    if (list.isKnown && this.#now() - list.lookedAt < FRESH_MS) return;
    const looking = list.looking ?? this.#begin(kind, request);
    if (list.isKnown) return;
    await abortable(looking, request.signal);
    for (let looks = 1; looks < LOOKS && !list.isKnown; looks++) {
      await abortable(list.looking ?? this.#begin(kind, request), request.signal);
    }
  }

  #begin(kind: ListName, request: McpRequest): Promise<void> {
    const list = this.#lists[kind];
    const lookedAt = this.#now();
    const looking = this.#lookNow(kind, request, ++list.begun)
      .then(() => {
        if (list.looking === looking) Object.assign(list, { isKnown: true, lookedAt });
      })
      .finally(() => {
        if (list.looking === looking) list.looking = undefined;
      });
    list.looking = looking;
    // Nobody may be waiting for it; it is tried again with the next request.
    looking.catch(() => {});
    return looking;
  }

  async #lookNow(kind: ListName, request: McpRequest, nth: number): Promise<void> {
    const { signal } = new AbortController();
    const inner = { ...request, signal, send() {} };
    // A server that does not say in time has nothing listed that could be in the way.
    const items = await listFromAll([this.#server], kind, inner, callShared);
    const list = this.#lists[kind];
    if (items.length === 0 || nth < list.taken) return;
    list.taken = nth;
    const shown = new Map<string, Entry>();
    await this.#take(kind, items.map(({ text }) => text), shown);
    if (nth === list.taken) list.shown = shown;
  }

  /** A hidden entry stays hidden until it is listed with another text: a server may list in turns. */
  async #take(kind: ListName, texts: readonly string[], shown: Map<string, Entry>): Promise<void> {
    const { hidden } = this.#lists[kind];
    for (const text of texts) {
      const name = nameIn(kind, text);
      if (name === undefined) continue;
      const entry = entryOf(kind, name);
      if (await this.#isShown(kind, text)) {
        hidden.delete(name);
        if (shown.size < MOST_SHOWN) { for (const form of entry.forms) shown.set(form, entry); }
      } else if (hidden.size < MOST_HIDDEN) hidden.set(name, { ...entry, text });
    }
  }
}

function entryOf(kind: ListName, name: string): Entry {
  if (kind === "prompts") return { forms: [name], literals: [] };
  if (kind === "resources") return { forms: formsOf(name), literals: [] };
  const literals = literalsOf(name);
  const parsed = parsedLiterals(literals);
  return { forms: [name], literals: parsed ? [literals, parsed] : [literals] };
}

function formsOf(uri: string): string[] {
  return [...new Set([uri, URL.parse(uri)?.href ?? uri])];
}

function leadsTo({ forms, literals }: Entry, name: string): boolean {
  return forms.includes(name) || literals.some((parts) => canBecome(parts, name));
}

function nameIn(kind: ListName, text: string): string | undefined {
  const span = memberSpans(text).get(LISTS[kind].key);
  const name: unknown = span && JSON.parse(text.slice(span.start, span.end));
  return typeof name === "string" ? name : undefined;
}

function requestedEntry({ method, params, text }: McpRequest) {
  const asked = (kind: ContentRef["kind"], name: unknown, code: number) =>
    typeof name === "string" ? { kind, name, code } : undefined;
  switch (method) {
    case "prompts/get":
      return asked("prompt", params.name, -32602);
    case "resources/read":
    case "resources/subscribe":
      return asked("resource", params.uri, -32002);
    case "completion/complete":
      return { ...completionRef(text, params), code: -32602 };
  }
}

/** Longer ones, which do not occur in practice, are compared only as text. */
const MAX_TEMPLATE = 2_000;

/** What stands between the expressions of a URI template. */
export function literalsOf(template: string): string[] {
  return template.length > MAX_TEMPLATE ? [template] : template.split(/\{[^{}]*\}/);
}

/** Stands for an expression where a template is read as a URI. */
const ANYTHING = "quartermaster0anything";

/** The literals for a reader that parses URIs before it compares them; undefined if it cannot. */
export function parsedLiterals(literals: readonly string[]): string[] | undefined {
  return URL.parse(literals.join(ANYTHING))?.href.split(ANYTHING);
}

/**
 * Whether a template can become this, roughly: an expression stands for any text without spaces. By
 * hand, because a pattern of many wildcards could take forever over a URI made for that.
 */
export function canBecome(literals: readonly string[], uri: string): boolean {
  const [first = "", last = ""] = [literals[0], literals.at(-1)];
  if (literals.length === 1) return uri === first;
  const end = uri.length - last.length;
  let start = first.length;
  if (start > end || !uri.startsWith(first) || !uri.endsWith(last) || /\s/.test(uri)) return false;
  for (const literal of literals.slice(1, -1)) {
    const found = uri.indexOf(literal, start);
    if (found === -1 || found + literal.length > end) return false;
    start = found + literal.length;
  }
  return true;
}
