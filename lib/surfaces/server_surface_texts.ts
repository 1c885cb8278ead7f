import { elementTexts, memberSpans } from "../core/json_spans.ts";
import { errorText, memberText, withId } from "../core/rpc.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { unlessAborted } from "../downstream/unless_aborted.ts";
import type { ListKind, TextsScreen } from "./listed_texts.ts";
import { type CallServer, listFromAll } from "./server_listing.ts";
import { completionRef } from "./sound_params.ts";
import type { RequestScope } from "./surface.ts";
import { canBecome, literalsOf, parsedLiterals, parsedUri } from "./uri_template.ts";

/** A list that is older than this is asked for again beside what asks for something in it. */
const FRESH_MS = 30_000;
/** More than these no server has that is not after something. */
const MOST_HIDDEN = 10_000;
const MOST_SHOWN = 100_000;
/** A server that says all the time that its list is another is not followed for longer. */
const LOOKS = 2;

const KINDS = {
  prompts: { method: "prompts/list", name: "name" },
  resources: { method: "resources/list", name: "uri" },
  resourceTemplates: { method: "resources/templates/list", name: "uriTemplate" },
} as const;

/** What an entry of a list can be asked for by. */
interface Entry {
  /** As it is written, and as a server has it that parses URIs before it compares them. */
  forms: readonly string[];
  /** The same two of a template, in parts. */
  literals: readonly (readonly string[])[];
}

/** What is known of one of a server's lists. */
interface KnownList {
  /** Whether the server has said nothing of another list since it was looked at. */
  isKnown: boolean;
  lookedAt: number;
  looking?: Promise<void> | undefined;
  /** Counts the looks, so that an older one does not undo what a later one has found. */
  begun: number;
  taken: number;
  /** Entries that no caller may see, by name: whether that still holds is asked each time. */
  hidden: Map<string, Entry & { text: string }>;
  /** By each of their forms. */
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

/** Keeps callers from what of a server's prompts and resources is in no list for what it says. */
export class ServerTexts {
  readonly #server: ManagedServer;
  readonly #screen: TextsScreen;
  readonly #now: () => number;
  readonly #lists = {
    prompts: unknownList(),
    resources: unknownList(),
    resourceTemplates: unknownList(),
  };

  constructor(server: ManagedServer, screen: TextsScreen, now: () => number = Date.now) {
    this.#server = server;
    this.#screen = screen;
    this.#now = now;
  }

  /** The answer to a request for what does not exist for callers; undefined where it may do. */
  async refusal(scope: RequestScope): Promise<string | undefined> {
    const asked = askedFor(scope);
    if (!asked) return undefined;
    const { kind, name, code } = asked;
    if (kind === "prompt") {
      await this.#look("prompts", scope);
      if (!await this.#isHidden("prompts", name)) return undefined;
    } else {
      await Promise.all([this.#look("resources", scope), this.#look("resourceTemplates", scope)]);
      if (!await this.#isResourceHidden(name)) return undefined;
    }
    return errorText(scope.id, code, `There is no ${kind} ${JSON.stringify(name)} here`);
  }

  /** Takes up a page that a client was about to be listed, of which something was left out. */
  async learn(kind: ListKind, answer: string): Promise<void> {
    const list = memberText(memberText(answer, "result") ?? "{}", kind);
    if (list !== undefined) await this.#take(kind, elementTexts(list), this.#lists[kind].shown);
  }

  /** Hears what the server says to all: another list is another thing to look at. */
  heard(text: string): void {
    if (!text.includes("/list_changed")) return;
    for (const list of Object.values(this.#lists)) {
      list.isKnown = false;
      // It may be of before the change.
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

  async #isHidden(kind: ListKind, name: string): Promise<boolean> {
    const entries = [...this.#lists[kind].hidden.values().filter((entry) => leadsTo(entry, name))];
    for (const { text } of entries) if (!await this.#isShown(kind, text)) return true;
    return false;
  }

  /** Whether the entry of a list is one for callers, by what was decided of it up to here. */
  async #isShown(kind: ListKind, text: string): Promise<boolean> {
    const list = `{"${kind}":[${text}]}`;
    return await this.#screen.list(this.#server.name, kind, list) === list;
  }

  /** One look for all who ask meanwhile; whoever began it may go. Nobody waits for what is only old. */
  async #look(kind: ListKind, scope: RequestScope): Promise<void> {
    const list = this.#lists[kind];
    if (list.isKnown && this.#now() - list.lookedAt < FRESH_MS) return;
    const looking = list.looking ?? this.#begin(kind, scope);
    if (list.isKnown) return;
    await unlessAborted(looking, scope.signal);
    for (let looks = 1; looks < LOOKS && !list.isKnown; looks++) {
      await unlessAborted(list.looking ?? this.#begin(kind, scope), scope.signal);
    }
  }

  #begin(kind: ListKind, scope: RequestScope): Promise<void> {
    const list = this.#lists[kind];
    const lookedAt = this.#now();
    const looking = this.#lookNow(kind, scope, ++list.begun)
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

  async #lookNow(kind: ListKind, scope: RequestScope, nth: number): Promise<void> {
    const { signal } = new AbortController();
    const inner = { ...scope, signal, send() {} };
    // A server that does not say in time has nothing listed that could be in the way.
    const items = await listFromAll([this.#server], KINDS[kind].method, inner, ask);
    const list = this.#lists[kind];
    if (items.length === 0 || nth < list.taken) return;
    list.taken = nth;
    const shown = new Map<string, Entry>();
    await this.#take(kind, items.map(({ text }) => text), shown);
    if (nth === list.taken) list.shown = shown;
  }

  /** What was hidden stays so until it is listed in other words: a server may list in turns. */
  async #take(
    kind: ListKind,
    texts: readonly string[],
    shown: Map<string, Entry>,
  ): Promise<void> {
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

function entryOf(kind: ListKind, name: string): Entry {
  if (kind === "prompts") return { forms: [name], literals: [] };
  if (kind === "resources") return { forms: formsOf(name), literals: [] };
  const literals = literalsOf(name);
  const parsed = parsedLiterals(literals);
  return { forms: [name], literals: parsed ? [literals, parsed] : [literals] };
}

function formsOf(uri: string): string[] {
  return [...new Set([uri, parsedUri(uri) ?? uri])];
}

function leadsTo({ forms, literals }: Entry, name: string): boolean {
  return forms.includes(name) || literals.some((parts) => canBecome(parts, name));
}

const ask: CallServer = async (server, scope, method, params) => {
  const { timeoutMs } = server;
  const { signal } = scope;
  const { id, text } = await server.call({ method, params, timeoutMs, streams: false, signal });
  return withId(text, id, scope.id);
};

function nameIn(kind: ListKind, text: string): string | undefined {
  const span = memberSpans(text).get(KINDS[kind].name);
  const name: unknown = span && JSON.parse(text.slice(span.start, span.end));
  return typeof name === "string" ? name : undefined;
}

interface Asked {
  kind: "prompt" | "resource";
  name: string;
  /** What an unknown one is answered with. */
  code: number;
}

/** The one thing of a server's that a request is about. */
function askedFor({ method, params, text }: RequestScope): Asked | undefined {
  const asked = (kind: Asked["kind"], name: unknown, code: number) =>
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
