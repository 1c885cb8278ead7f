import { signal } from "@preact/signals";
import * as z from "zod/mini";

export type LiveState = "connecting" | "live" | "reconnecting" | "offline";

const StatusCounts = z.object({
  servers: z.int(),
  ready: z.int(),
  starting: z.optional(z.int()),
  tools: z.int(),
  attention: z.int(),
  toolsets: z.optional(z.int()),
  security: z.optional(z.int()),
  optimizing: z.optional(z.boolean()),
});
export type StatusCounts = z.infer<typeof StatusCounts>;

/** Written by the one live channel of the page, in the browser only; read by any island. */
export const liveState = signal<LiveState>("connecting");
/** Whether a refresh waits for a form. */
export const isRefreshHeld = signal(false);
export const liveCounts = signal<StatusCounts | undefined>(undefined);
/** The last event before the page that is shown was made; written anew with each page. */
export const pageMoment = signal<{ madeAt: string | undefined }>({ madeAt: undefined });

/**
 * What can change besides servers, by the names of its events. A page that shows one of them says
 * so with `data-live`; an island that wants the event's own data asks with `onLive()`.
 */
const LIVE_KINDS = [
  "activity",
  "audit",
  "calls",
  "embeddings",
  "logs",
  "optimization",
  "sessions",
  "settings",
  "tools",
  "toolsets",
] as const;
type LiveKind = typeof LIVE_KINDS[number];

interface LiveListener {
  onKind(kind: LiveKind | "servers"): void;
  onReset(): void;
}

type DataListener = (data: unknown) => void;
const dataListeners = new Map<LiveKind, Set<DataListener>>();

/** Gets each event of a kind as it comes, in the browser only; ends with what it returns. */
export function onLive(kind: LiveKind, listener: DataListener): () => void {
  const listeners = dataListeners.get(kind) ?? new Set();
  dataListeners.set(kind, listeners.add(listener));
  return () => listeners.delete(listener);
}

interface Source {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

interface LiveChannelOptions {
  /** The last event before the page was made: what came since is told first. */
  since: string | undefined;
  open?: (since: string | undefined) => Source;
}

const CLOSED = 2;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 15_000;
/** After this long without the gateway, it has probably been stopped. */
const OFFLINE_AFTER_MS = 20_000;

/**
 * Keeps one event stream open. The browser reconnects by itself after a drop and names the last
 * event it saw; only where it gives up (an error status) does this open a new one.
 */
export class LiveChannel {
  readonly #listener: LiveListener;
  readonly #open: (since: string | undefined) => Source;
  readonly #heard = new Map<string, number>();
  #run = "";
  #since: string | undefined;
  #source: Source | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #offline: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(listener: LiveListener, { since, open = openEvents }: LiveChannelOptions) {
    this.#listener = listener;
    this.#since = since;
    this.#open = open;
  }

  start(): void {
    if (this.#source !== undefined) return;
    clearTimeout(this.#retry);
    const source = this.#source = this.#open(this.#since);
    source.addEventListener("open", () => this.#onOpen());
    source.addEventListener("error", () => this.#onError(source));
    const on = (type: string, listener: (data: string) => void, kind = type) =>
      source.addEventListener(type, ({ data, lastEventId }) => {
        this.#note(kind, lastEventId);
        listener(data);
      });
    on("status", (data) => {
      const counts = StatusCounts.safeParse(JSON.parse(data));
      if (counts.success) liveCounts.value = counts.data;
    });
    on("server", () => this.#listener.onKind("servers"), "servers");
    for (const kind of LIVE_KINDS) {
      on(kind, (data) => {
        const listeners = dataListeners.get(kind);
        if (listeners?.size) {
          const value: unknown = JSON.parse(data);
          for (const listener of listeners) listener(value);
        }
        this.#listener.onKind(kind);
      });
    }
    on("reset", () => this.#listener.onReset());
  }

  stop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#offline);
    this.#offline = undefined;
    this.#source?.close();
    this.#source = undefined;
  }

  /** What has changed since an event, as pages name it in `data-live`. */
  heardSince(event: string): string[] {
    const { run, place } = readId(event);
    // A page of another run comes with a stream that begins anew.
    if (run !== this.#run) return [];
    return [...this.#heard].filter(([, last]) => last > place).map(([kind]) => kind);
  }

  #note(kind: string, id: string): void {
    if (id === "") return;
    // Those that nobody can catch up on come with the id of the one before.
    const isNumbered = id !== this.#since;
    this.#since = id;
    const { run, place } = readId(id);
    if (run !== this.#run) this.#heard.clear();
    this.#run = run;
    if (isNumbered) this.#heard.set(kind, place);
  }

  #onOpen(): void {
    clearTimeout(this.#offline);
    this.#offline = undefined;
    this.#failures = 0;
    liveState.value = "live";
  }

  #onError(source: Source): void {
    if (source !== this.#source) return;
    if (liveState.peek() !== "offline") liveState.value = "reconnecting";
    this.#offline ??= setTimeout(() => liveState.value = "offline", OFFLINE_AFTER_MS);
    if (source.readyState !== CLOSED) return;
    this.#source = undefined;
    const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++);
    this.#retry = setTimeout(() => this.start(), wait * (0.75 + Math.random() / 2));
  }
}

function openEvents(since: string | undefined): EventSource {
  const query = since === undefined ? "" : `?since=${encodeURIComponent(since)}`;
  return new EventSource(`/api/events${query}`);
}

function readId(id: string): { run: string; place: number } {
  const at = id.lastIndexOf("-");
  return { run: id.slice(0, at), place: Number(id.slice(at + 1)) };
}

/** The button in the layout that fetches the shown page again as a Partial. */
export const REFRESH_BUTTON_ID = "page-refresh";

/** How long a burst of changes may go on before the page follows. */
const QUIET_MS = 300;
const LONGEST_MS = 400;
const RETRY_MS = 1000;

let timer: ReturnType<typeof setTimeout> | undefined;
let waitingSince = 0;
/** What only the answer to a form shows: the page fetched again would be without it. */
const FORM_FAILURE = ".form-failure";

/**
 * Fetches the shown page's data again, once for a burst of calls. The page is compared with what
 * is there, so that fields, focus and scroll position stay. A hidden tab waits until it is seen, and
 * a page with a changed form or a form's error until that is sent. A lost gateway is waited for: a
 * page that shows old data is better than none.
 */
export function requestRefresh(): void {
  const now = Date.now();
  if (timer === undefined) waitingSince = now;
  else clearTimeout(timer);
  const wait = Math.max(0, Math.min(QUIET_MS, waitingSince + LONGEST_MS - now));
  timer = setTimeout(refreshWhenPossible, wait);
}

function refreshWhenPossible(): void {
  timer = undefined;
  isRefreshHeld.value = hasUnsavedInput() || document.querySelector(FORM_FAILURE) !== null;
  if (isRefreshHeld.peek() || document.hidden || liveState.peek() !== "live") {
    timer = setTimeout(refreshWhenPossible, RETRY_MS);
  } else {
    refreshNow();
  }
}

/** Whether something was changed that a refresh would set back: a field that came with a value. */
function hasUnsavedInput(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement>(
    "form[method=post] input:is([value], [checked])",
  );
  return [...fields].some(({ type, value, defaultValue, checked, defaultChecked }) =>
    type === "checkbox" || type === "radio"
      ? defaultChecked && !checked
      : type !== "hidden" && value !== defaultValue
  );
}

export function showQuery(query: URLSearchParams): void {
  const search = query.toString();
  const url = search === "" ? location.pathname : `${location.pathname}?${search}`;
  history.replaceState(history.state, "", url);
  refreshNow();
}

/** Whether the page shown depends on the given kind of thing: `<div data-live="servers tools">`. */
export function pageDependsOn(kind: string): boolean {
  return document.querySelector(`[data-live~="${kind}"]`) !== null;
}

function refreshNow(): void {
  // A button, not a link: a link would scroll to the top.
  const button = document.getElementById(REFRESH_BUTTON_ID);
  if (button === null) return;
  const asked = shownAddress();
  button.setAttribute("f-partial", asked);
  const isLoading = signal(true);
  // Another page may have come first; this one has just replaced it.
  isLoading.subscribe((value) => {
    if (!value && shownAddress() !== asked) refreshNow();
  });
  Object.assign(button, { _freshIndicator: isLoading });
  button.click();
}

const shownAddress = () => location.pathname + location.search;
