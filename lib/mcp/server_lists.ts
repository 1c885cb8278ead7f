import type {
  Prompt,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
} from "@modelcontextprotocol/sdk/types";
import { asAbortSignal, type CancelSignal } from "../core/async.ts";
import { shortened } from "../core/text.ts";
import {
  elementSpans,
  elementTexts,
  isObject,
  memberSpans,
  memberText,
  parseJson,
  replaceSpan,
  type Unchecked,
  withId,
} from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { McpRequest } from "../core/client.ts";

/** A server that lists more pages than this lists forever. */
const MAX_PAGES = 100;
/** A server that takes longer is left out: the others' lists shall not wait for it. */
const LIMIT_MS = 10_000;

export type CallServer = (
  server: ManagedServer,
  request: McpRequest,
  params: string | undefined,
) => Promise<string>;

/** On the shared connection: a list asks the client nothing, so none needs one of its own for it. */
export const callShared: CallServer = async (server, { method, signal, id: own }, params) => {
  const { timeoutMs } = server;
  const { id, text } = await server.call({ method, params, timeoutMs, streams: false, signal });
  return withId(text, id, own);
};

export interface ListedItem {
  server: ManagedServer;
  text: string;
  value: Unchecked<Prompt & Resource & ResourceTemplate>;
}

/** What servers list: how, what its entries are known by, and the capability it takes. */
export const LISTS = {
  prompts: { method: "prompts/list", key: "name", capability: "prompts" },
  resources: { method: "resources/list", key: "uri", capability: "resources" },
  resourceTemplates: {
    method: "resources/templates/list",
    key: "uriTemplate",
    capability: "resources",
  },
} as const;
export type ListName = keyof typeof LISTS;

/** The extension for skills (SEP-2640). */
const SKILLS = "io.modelcontextprotocol/skills";
export const SKILLS_LIST = "skills/list";

const ALL_LISTS = {
  ...LISTS,
  tasks: { method: "tasks/list", key: "taskId", capability: "tasks" },
  skills: { method: SKILLS_LIST, key: "uri", capability: "extensions", extension: SKILLS },
} as const;

const LIST_NAMES = Object.keys(ALL_LISTS) as (keyof typeof ALL_LISTS)[];
/** Of an invalid entry, in the log. */
const MAX_NAME = 100;

/** What all of the servers list, server by server; one that fails is left out. */
export async function listFromAll(
  servers: readonly ManagedServer[],
  list: keyof typeof ALL_LISTS,
  request: McpRequest,
  call: CallServer,
  limitMs = LIMIT_MS,
): Promise<ListedItem[]> {
  const signal = AbortSignal.any([asAbortSignal(request.signal), AbortSignal.timeout(limitMs)]);
  const lists = await Promise.all(servers.map(async (server) => {
    try {
      const { capability, ...rest } = ALL_LISTS[list];
      const { extension } = { extension: undefined, ...rest };
      if (!await declares(server, capability, signal, extension)) return [];
      return await listFrom(server, list, { ...request, signal }, call);
    } catch {
      request.signal.throwIfAborted();
      return [];
    }
  }));
  return lists.flat();
}

/** The entries that a client of the SDK accepts: it refuses a whole list for one that is invalid. */
export async function listValid(...args: Parameters<typeof listFromAll>): Promise<ListedItem[]> {
  const items = await listFromAll(...args);
  if (items.length === 0) return items;
  const check = await checkFor(args[1]);
  return items.filter(({ server, value }) => check(server, value));
}

/** The same for the answer to a list of one server, which stays as it came if all entries are valid. */
export async function withValidItems(
  server: ManagedServer,
  method: string,
  answer: string,
): Promise<string> {
  const list = LIST_NAMES.find((list) => ALL_LISTS[list].method === method);
  const result = list && memberSpans(answer).get("result");
  const span = result && answer[result.start] === "{"
    ? memberSpans(answer, result.start).get(list)
    : undefined;
  if (!list || !span) return answer;
  const values = parseJson(answer.slice(span.start, span.end));
  if (!Array.isArray(values)) return answer;
  const check = await checkFor(list);
  const isValid = values.map((value) => check(server, value));
  if (isValid.every(Boolean)) return answer;
  const texts = elementSpans(answer, span.start).filter((_, index) => isValid[index])
    .map(({ start, end }) => answer.slice(start, end));
  return replaceSpan(answer, span, `[${texts.join()}]`);
}

/** Whether an entry is valid; of each list, the first that is not is noted in its server's log. */
async function checkFor(list: keyof typeof ALL_LISTS) {
  const { listEntryProblem } = await import("./list_entries.ts");
  return (server: ManagedServer, value: unknown): boolean => {
    const problem = listEntryProblem(list, value);
    if (problem === undefined) return true;
    const { method, key } = ALL_LISTS[list];
    const name = shortened(JSON.stringify(isObject(value) ? value[key] : value) ?? "", MAX_NAME);
    server.warnOnce(method, `${method}: left out ${name}, which is invalid: ${problem}`);
    return false;
  };
}

export type ServerFeatures = Record<ListName, ListedItem["value"][]>;

/** What a connected server offers besides tools; undefined if that would take waking it. */
async function featuresOf(server: ManagedServer): Promise<ServerFeatures | undefined> {
  if (server.status.state !== "ready" || server.isAsleep) return undefined;
  const { signal } = new AbortController();
  const request = { id: 0, method: "", params: {}, text: "", signal, send: () => {} };
  const of = async (list: ListName) =>
    (await listFromAll([server], list, request, callShared)).map(({ value }) => value);
  const [prompts, resources, resourceTemplates] = await Promise.all([
    of("prompts"),
    of("resources"),
    of("resourceTemplates"),
  ]);
  return { prompts, resources, resourceTemplates };
}

const RECENT_MS = 30_000;

/** Remembers the answers for a while: a page that is refreshed does not ask its server each time. */
export class RecentFeatures {
  readonly #asked = new WeakMap<ManagedServer, { at: number; features: Asked }>();

  of(server: ManagedServer): Asked {
    const last = this.#asked.get(server);
    if (last && last.at > Math.max(Date.now() - RECENT_MS, server.status.since)) {
      return last.features;
    }
    const features = featuresOf(server);
    this.#asked.set(server, { at: Date.now(), features });
    return features;
  }
}

type Asked = Promise<ServerFeatures | undefined>;

export async function declares(
  server: ManagedServer,
  capability: keyof ServerCapabilities,
  signal: CancelSignal,
  extension?: string,
): Promise<boolean> {
  const { capabilities } = server.info ?? (await server.connection(signal)).info;
  const declared = capabilities[capability];
  return extension === undefined
    ? declared !== undefined
    : isObject(declared) && declared[extension] !== undefined;
}

async function listFrom(
  server: ManagedServer,
  list: keyof typeof ALL_LISTS,
  request: McpRequest,
  call: CallServer,
): Promise<ListedItem[]> {
  const items: ListedItem[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const inner = { ...request, method: ALL_LISTS[list].method, params: {} };
    const result = memberText(await call(server, inner, params), "result");
    if (result === undefined) break;
    const spans = memberSpans(result);
    const entries = spans.get(list);
    if (!entries) break;
    for (const text of elementTexts(result.slice(entries.start, entries.end))) {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) items.push({ server, text, value });
    }
    const next = spans.get("nextCursor");
    cursor = next && JSON.parse(result.slice(next.start, next.end));
    if (typeof cursor !== "string") break;
  }
  return items;
}
