import type { ActivityRecord, ActivityRepository } from "../storage/activity_repository.ts";
import { type ActivityFilter, filterWords, fits, searchedText } from "./activity_filter.ts";
import type { ActivityLog } from "./activity_log.ts";
import type { CallDetails } from "./call_details.ts";
import { type CallView, viewCall } from "./call_view.ts";
import type { Redactor } from "./redact.ts";

export interface ActivityReaderOptions {
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

  /** Of how many calls the texts are kept at most. */
  get detailsKept(): number {
    return this.#options.details.most;
  }

  /** The newest calls first. */
  async *calls(
    filter: ActivityFilter = {},
    { before, after }: ActivityRange = {},
  ): AsyncGenerator<ActivityRecord> {
    const words = filterWords(filter);
    let begun = performance.now();
    for await (const call of this.#all(before)) {
      if (call.id === after) return;
      if (!fits(call, filter)) continue;
      if (words.length > 0) {
        if (performance.now() - begun > SEARCH_MS) {
          await new Promise((next) => setTimeout(next));
          begun = performance.now();
        }
        if (!this.#hasWords(call, words)) continue;
      }
      yield call;
    }
  }

  /** One call, with what was said in it as long as that is remembered. */
  async find(id: string): Promise<{ call: ActivityRecord; view?: CallView } | undefined> {
    const { repository, log, details, redactor } = this.#options;
    const detail = details.find(id);
    if (detail) return { call: detail.call, view: viewCall(detail, redactor) };
    const call = log.unwritten().find((call) => call.id === id) ?? await repository.find(id);
    return call && { call };
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
