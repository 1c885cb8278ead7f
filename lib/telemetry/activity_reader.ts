import * as z from "zod";
import type {
  ActivityRecord,
  ActivityRepository,
  ActivitySearch,
} from "../storage/activity_repository.ts";
import { timeOfId } from "../storage/keys.ts";
import { isObject } from "../core/rpc.ts";
import { type CallDetail, type CallDetails, PICK_MS } from "./call_recorder.ts";
import type { Redactor } from "./redact.ts";
import type { ActivityLog } from "./activity_log.ts";

export const ActivityFilter = z.strictObject({
  server: z.string().optional(),
  tool: z.string().optional(),
  client: z.string().optional(),
  endpoint: z.string().optional(),
  session: z.string().optional(),
  /** Calls, searches, or searches that found nothing. Default: all. */
  kind: z.enum(["call", "search", "missed"]).optional(),
  status: z.enum(["ok", "error"]).optional(),
  /** Words that all have to be somewhere in the call. */
  text: z.string().optional(),
});
export type ActivityFilter = z.infer<typeof ActivityFilter>;

function matchesFilter(call: ActivityRecord, filter: ActivityFilter): boolean {
  return (filter.server === undefined || call.server === filter.server) &&
    (filter.tool === undefined || call.tool === filter.tool) &&
    (filter.client === undefined || call.client === filter.client) &&
    (filter.endpoint === undefined || call.endpoint === filter.endpoint) &&
    (filter.session === undefined || call.session === filter.session) &&
    (filter.kind === undefined || (filter.kind === "call") === (call.search === undefined)) &&
    (filter.kind !== "missed" || call.search?.isHit === false) &&
    (filter.status === undefined || call.ok === (filter.status === "ok"));
}

function filterWords({ text = "" }: ActivityFilter): string[] {
  return text.toLowerCase().split(/\s+/).filter((word) => word !== "");
}

function searchedText(call: ActivityRecord): string {
  const { server, tool, client = "", endpoint, error = "", session, id, search } = call;
  const found = search?.found.map(({ server, tool }) => `${server}.${tool}`) ?? [];
  return [`${server}.${tool}`, client, endpoint, error, session, id, search?.query, ...found]
    .join("\n").toLowerCase();
}

interface ActivityReaderOptions {
  repository: ActivityRepository;
  log: ActivityLog;
  details: CallDetails;
  redactor: Redactor;
}

export interface ActivityRange {
  /** Leaves out this call and all newer ones. */
  before?: string | undefined;
  /** Leaves out this call and all older ones. */
  after?: string | undefined;
}

/** Texts are searched for so long at a time, so that calls are not held up. */
const SEARCH_MS = 20;

/** All calls that are known: those in the store, and those on their way to it. */
export class ActivityReader {
  readonly #options: ActivityReaderOptions;

  constructor(options: ActivityReaderOptions) {
    this.#options = options;
  }

  get detailsKept(): number {
    return this.#options.details.most;
  }

  async *calls(
    filter: ActivityFilter = {},
    { before, after }: ActivityRange = {},
  ): AsyncGenerator<ActivityRecord> {
    const words = filterWords(filter);
    const picks = new Picks();
    // Calls that are left out may have followed searches that are not.
    if (before !== undefined) await this.#notePicks(before, picks);
    let begun = performance.now();
    for await (const call of this.#all(before)) {
      picks.note(call);
      if (call.id === after) return;
      if (!matchesFilter(call, filter)) continue;
      if (words.length > 0) {
        if (performance.now() - begun > SEARCH_MS) {
          await new Promise((next) => setTimeout(next));
          begun = performance.now();
        }
        if (!this.#hasWords(call, words)) continue;
      }
      yield picks.added(call);
    }
  }

  /** One call, with what was said in it as long as that is remembered. */
  async find(id: string): Promise<{ call: ActivityRecord; view?: CallView } | undefined> {
    const { repository, log, details, redactor } = this.#options;
    const detail = details.find(id);
    const found = detail?.call ?? log.unwritten().find((call) => call.id === id) ??
      await repository.find(id);
    if (!found) return undefined;
    const picks = new Picks();
    if (found.search) await this.#notePicks(id, picks);
    const call = picks.added(found);
    return detail ? { call, view: viewCall(detail, redactor) } : { call };
  }

  /** Notes the calls that followed an entry. */
  async #notePicks(id: string, picks: Picks): Promise<void> {
    const { repository, log } = this.#options;
    const at = timeOfId(id);
    if (at === undefined) return;
    for (const call of log.unwritten()) picks.note(call);
    for await (const call of repository.between(at, at + PICK_MS)) picks.note(call);
  }

  async *#all(before: string | undefined): AsyncGenerator<ActivityRecord> {
    const { repository, log } = this.#options;
    const unwritten = log.unwritten();
    const at = before === undefined ? -1 : unwritten.findIndex(({ id }) => id === before);
    const isHere = before === undefined || at >= 0;
    if (isHere) yield* unwritten.slice(at + 1);
    // Written meanwhile, they are in the store as well.
    const known = new Set(unwritten.map(({ id }) => id));
    for await (const call of repository.recent(Infinity, isHere ? undefined : before)) {
      if (!known.has(call.id)) yield call;
    }
  }

  /** Looks only at what would be shown: nobody can find out a secret by searching for it. */
  #hasWords(call: ActivityRecord, words: readonly string[]): boolean {
    const shown = searchedText(call);
    const missing = words.filter((word) => !shown.includes(word));
    if (missing.length === 0) return true;
    const detail = this.#options.details.find(call.id);
    if (!detail) return false;
    const { request, response } = viewCall(detail, this.#options.redactor);
    const texts = [request.text, ...response.words, response.text].join("\n").toLowerCase();
    return missing.every((word) => texts.includes(word));
  }
}

/** The calls that followed searches, by the searches' ids; noted in any order, each once. */
class Picks {
  readonly #bySearch = new Map<string, Map<string, ActivityRecord>>();

  note(call: ActivityRecord): void {
    if (call.searchId === undefined) return;
    const calls = this.#bySearch.get(call.searchId) ?? new Map<string, ActivityRecord>();
    this.#bySearch.set(call.searchId, calls.set(call.id, call));
  }

  /** An entry; with its picks, if it is a search. */
  added(call: ActivityRecord): ActivityRecord {
    const calls = this.#bySearch.get(call.id);
    if (!call.search || !calls) return call;
    const picks: ActivitySearch["picks"] = [...calls.values()].sort((a, b) => a.at - b.at)
      .map(({ id, server, tool, ok }) => ({ id, server, tool, ok }));
    return { ...call, search: { ...call.search, picks } };
  }
}

/** What was said in a call, without secrets, as a person reads it. */
export interface CallView {
  request: {
    /** The tool's arguments; undefined if the request was cut before its end. */
    arguments?: Record<string, unknown>;
    text: string;
    isCut: boolean;
  };
  response: {
    words: string[];
    text: string;
    isCut: boolean;
  };
}

/** A secret could begin before the cut and end after it: so much is not shown. */
const UNSURE_LENGTH = 4_096;

export function viewCall(detail: CallDetail, redactor: Redactor): CallView {
  const request = readMessage(detail.request, detail.isRequestCut, redactor);
  const response = readMessage(detail.response, detail.isResponseCut, redactor);
  const params = isObject(request.value) ? request.value.params : undefined;
  const given = isObject(params) ? params.arguments : undefined;
  const { result, error } = isObject(response.value) ? response.value : {};
  return {
    request: {
      ...(isObject(given) ? { arguments: given } : {}),
      text: request.value === undefined ? request.text : print(params ?? request.value, redactor),
      isCut: detail.isRequestCut,
    },
    response: {
      words: wordsOf(result),
      text: response.value === undefined
        ? response.text
        : print(result ?? error ?? response.value, redactor),
      isCut: detail.isResponseCut,
    },
  };
}

/** A whole message without secrets: still JSON where it was, so that it can be read on. */
export function cleanMessage(text: string, redactor: Redactor): string {
  const { value, text: rest } = readMessage(text, false, redactor);
  return value === undefined ? rest : JSON.stringify(value);
}

/** The message parsed, where it is whole; else its beginning. */
function readMessage(
  text: string,
  isCut: boolean,
  redactor: Redactor,
): { value?: unknown; text: string } {
  if (isCut) return { text: redactor.json(text).slice(0, -UNSURE_LENGTH).toWellFormed() };
  try {
    return { value: clean(redactor.value(JSON.parse(text), { isWhole: true }), redactor), text };
  } catch {
    return { text: redactor.json(text) };
  }
}

/** No text in it has a secret, nor has a name. */
function clean(value: unknown, redactor: Redactor): unknown {
  if (typeof value === "string") return redactor.json(value);
  if (Array.isArray(value)) return value.map((item) => clean(item, redactor));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redactor.text(name), clean(item, redactor)]),
  );
}

function print(value: unknown, redactor: Redactor): string {
  return redactor.json(JSON.stringify(value, null, 2));
}

function wordsOf(result: unknown): string[] {
  const content = isObject(result) && Array.isArray(result.content) ? result.content : [];
  return content.flatMap((part) =>
    isObject(part) && part.type === "text" && typeof part.text === "string" ? part.text : []
  );
}
