import { elementTexts, memberSpans } from "../core/json_spans.ts";
import { errorText, isObject, memberText, withId } from "../core/rpc.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import type { ListKind, TextsScreen } from "./listed_texts.ts";
import { type CallServer, listFromAll } from "./server_listing.ts";
import type { RequestScope } from "./surface.ts";
import { canBecome, literalsOf } from "./uri_template.ts";

/** A list that is older than this is asked for again before something in it is asked for. */
const FRESH_MS = 30_000;
/** More than these no server has that is not after something. */
const MOST_HIDDEN = 10_000;

const KINDS = {
  prompts: { method: "prompts/list", name: "name" },
  resources: { method: "resources/list", name: "uri" },
  resourceTemplates: { method: "resources/templates/list", name: "uriTemplate" },
} as const;

/** What is known of one of a server's lists. */
interface KnownList {
  lookedAt: number;
  looking?: Promise<void> | undefined;
  /** Entries that no caller may see, by name: whether that still holds is asked each time. */
  hidden: Map<string, string>;
  shown: Set<string>;
}

const unknownList = (): KnownList => ({ lookedAt: -Infinity, hidden: new Map(), shown: new Set() });

/** Keeps callers from what of a server's prompts and resources is in no list for what it says. */
export class ServerTexts {
  readonly #server: ManagedServer;
  readonly #screen: TextsScreen;
  readonly #lists = {
    prompts: unknownList(),
    resources: unknownList(),
    resourceTemplates: unknownList(),
  };

  constructor(server: ManagedServer, screen: TextsScreen) {
    this.#server = server;
    this.#screen = screen;
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

  /** Takes up what a client was about to be listed, of which something was left out. */
  async learn(kind: ListKind, answer: string): Promise<void> {
    const list = memberText(memberText(answer, "result") ?? "{}", kind);
    if (list !== undefined) await this.#take(kind, elementTexts(list));
  }

  /** Hears what the server says to all: another list is another thing to look at. */
  heard(text: string): void {
    if (!text.includes("/list_changed")) return;
    for (const list of Object.values(this.#lists)) list.lookedAt = -Infinity;
  }

  async #isResourceHidden(uri: string): Promise<boolean> {
    if (await this.#isHidden("resources", uri)) return true;
    if (this.#lists.resources.shown.has(uri)) return false;
    const { hidden, shown } = this.#lists.resourceTemplates;
    const fits = (template: string) => template === uri || canBecome(literalsOf(template), uri);
    // One that callers do see leads there as well.
    if (shown.values().some(fits)) return false;
    for (const template of [...hidden.keys()].filter(fits)) {
      if (await this.#isHidden("resourceTemplates", template)) return true;
    }
    return false;
  }

  async #isHidden(kind: ListKind, name: string): Promise<boolean> {
    const text = this.#lists[kind].hidden.get(name);
    return text !== undefined && !await this.#isShown(kind, text);
  }

  /** Whether the entry of a list is one for callers, by what was decided of it up to here. */
  async #isShown(kind: ListKind, text: string): Promise<boolean> {
    const list = `{"${kind}":[${text}]}`;
    return await this.#screen.list(this.#server.name, kind, list) === list;
  }

  /** One look for all who ask meanwhile; whoever began it may go. */
  async #look(kind: ListKind, scope: RequestScope): Promise<void> {
    const list = this.#lists[kind];
    if (!list.looking && Date.now() - list.lookedAt < FRESH_MS) return;
    await (list.looking ??= this.#lookNow(kind, scope).finally(() => list.looking = undefined));
  }

  async #lookNow(kind: ListKind, scope: RequestScope): Promise<void> {
    // Before it is asked: what changes meanwhile is looked at again.
    this.#lists[kind].lookedAt = Date.now();
    const { signal } = new AbortController();
    const inner = { ...scope, signal, send() {} };
    // A server that does not say in time has nothing listed that could be in the way.
    const items = await listFromAll([this.#server], KINDS[kind].method, inner, ask);
    await this.#take(kind, items.map(({ text }) => text));
  }

  /** What was hidden stays so until it is listed in other words: a server may list in turns. */
  async #take(kind: ListKind, texts: readonly string[]): Promise<void> {
    const { hidden, shown } = this.#lists[kind];
    if (texts.length > 0) shown.clear();
    for (const text of texts) {
      const name = nameIn(kind, text);
      if (name === undefined) continue;
      if (await this.#isShown(kind, text)) {
        hidden.delete(name);
        shown.add(name);
      } else if (hidden.size < MOST_HIDDEN) hidden.set(name, text);
    }
  }
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
function askedFor({ method, params }: RequestScope): Asked | undefined {
  const asked = (kind: Asked["kind"], name: unknown, code: number) =>
    typeof name === "string" ? { kind, name, code } : undefined;
  switch (method) {
    case "prompts/get":
      return asked("prompt", params.name, -32602);
    case "resources/read":
    case "resources/subscribe":
      return asked("resource", params.uri, -32002);
    case "completion/complete": {
      const ref = isObject(params.ref) ? params.ref : {};
      return asked("resource", ref.uri, -32602) ?? asked("prompt", ref.name, -32602);
    }
  }
}
