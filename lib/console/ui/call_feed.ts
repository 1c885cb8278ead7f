import { signal } from "@preact/signals";
import { readApi } from "./ask_api.ts";
import { MOST_ROWS, passes, withHeard, withNewest, withOlder } from "./call_list.ts";
import { type CallsAnswer, type ListedCall, readCalls, readHeard } from "./listed_call.ts";

type Rows = readonly ListedCall[];

/** Asks the gateway for calls. */
export type AskCalls = (query: Record<string, string>) => Promise<CallsAnswer>;

export interface CallFeedInput {
  rows: Rows;
  hasOlder: boolean;
  /** The filter as the address says it. */
  query: Record<string, string>;
  /** Shows calls before one: what is new has no place there. */
  isOlder: boolean;
}

const AT_ONCE = 500;
/** The gateway is not asked more often for what it did not tell by itself. */
const ASK_MS = 1_000;

/** The calls of one list in the browser: what was loaded, what came live, and what waits to be shown. */
export class CallFeed {
  readonly rows = signal<Rows>([]);
  /** New calls that are held back. */
  readonly waiting = signal<Rows>([]);
  readonly hasOlder = signal(false);
  readonly older = signal<"idle" | "loading" | "failed">("idle");
  readonly #query: Record<string, string>;
  readonly #isOlder: boolean;
  readonly #ask: AskCalls;
  /** Whether those that wait do not join what is shown. */
  #isWaitingAnew = false;
  #askedAt = -Infinity;
  #asking: ReturnType<typeof setTimeout> | undefined;

  constructor({ rows, hasOlder, query, isOlder }: CallFeedInput, ask: AskCalls = askCalls) {
    this.rows.value = rows;
    this.hasOlder.value = hasOlder;
    this.#query = query;
    this.#isOlder = isOlder;
    this.#ask = ask;
  }

  /** Takes what the live channel tells; `holds` says whether it is held back at that moment. */
  hear(data: unknown, holds: () => boolean): void {
    const heard = readHeard(data);
    if (heard === undefined || this.#isOlder) return;
    // What is said in calls only the gateway can search.
    if (heard.skipped > 0 || this.#query.q !== undefined) return this.askSoon(holds);
    // What is older than the last row comes when older ones are asked for.
    const last = this.hasOlder.value ? this.rows.value.at(-1)?.at ?? -Infinity : -Infinity;
    const calls = heard.calls.filter((call) => call.at >= last && passes(call, this.#query));
    if (calls.length === 0) return;
    if (holds()) this.waiting.value = withHeard(this.waiting.value, calls);
    else this.rows.value = withHeard(this.rows.value, calls);
  }

  /** Asks for the newest calls, once for a burst of reasons to. */
  askSoon(holds: () => boolean): void {
    if (this.#isOlder || this.#asking !== undefined) return;
    const wait = Math.max(0, this.#askedAt + ASK_MS - Date.now());
    this.#asking = setTimeout(async () => {
      this.#asking = undefined;
      this.#askedAt = Date.now();
      try {
        this.refresh(await this.#ask({ ...this.#query, limit: String(AT_ONCE) }), holds());
      } catch { /* the live indicator says that the gateway is away */ }
    }, wait);
  }

  /** Takes the newest calls as they are now. */
  refresh({ calls, hasOlder }: CallsAnswer, isHeld: boolean): void {
    const all = this.#isWaitingAnew
      ? this.waiting.value
      : withHeard(this.rows.value, this.waiting.value);
    const { rows, isAnew } = withNewest(all, calls);
    if (!isHeld) {
      this.rows.value = rows;
      this.waiting.value = [];
      if (isAnew || this.#isWaitingAnew) this.hasOlder.value = isAnew ? hasOlder : true;
      this.#isWaitingAnew = false;
      return;
    }
    if (this.rows.value.length === 0) {
      this.rows.value = rows;
      this.waiting.value = [];
      this.hasOlder.value = hasOlder;
      return;
    }
    this.#isWaitingAnew ||= isAnew;
    const shown = new Set(this.rows.value.slice(0, AT_ONCE * 4).map(({ id }) => id));
    const end = rows.findIndex(({ id }) => shown.has(id));
    this.waiting.value = this.#isWaitingAnew ? rows : rows.slice(0, Math.max(0, end));
  }

  /** Shows what was held back. */
  showWaiting(): void {
    if (this.waiting.value.length === 0) return;
    if (this.#isWaitingAnew) this.hasOlder.value = true;
    this.rows.value = this.#isWaitingAnew
      ? this.waiting.value
      : withHeard(this.rows.value, this.waiting.value);
    this.#isWaitingAnew = false;
    this.waiting.value = [];
  }

  async loadOlder(): Promise<void> {
    const last = this.rows.value.at(-1);
    const isFull = this.rows.value.length >= MOST_ROWS;
    if (!last || isFull || !this.hasOlder.value || this.older.value === "loading") return;
    this.older.value = "loading";
    try {
      const query = { ...this.#query, limit: String(AT_ONCE), before: last.id };
      const { calls, hasOlder } = await this.#ask(query);
      this.older.value = "idle";
      // The list began anew meanwhile: between its end and these there would be a gap.
      if (this.rows.value.at(-1)?.id !== last.id) return;
      this.rows.value = withOlder(this.rows.value, calls);
      this.hasOlder.value = hasOlder;
    } catch {
      this.older.value = "failed";
    }
  }

  close(): void {
    clearTimeout(this.#asking);
  }
}

const ASK_LIMIT_MS = 20_000;

async function askCalls(query: Record<string, string>): Promise<CallsAnswer> {
  const path = `/api/activity?${new URLSearchParams(query)}`;
  return readCalls(await readApi(path, AbortSignal.timeout(ASK_LIMIT_MS)));
}
