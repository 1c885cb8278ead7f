import { signal } from "@preact/signals";

export type LiveState = "connecting" | "live" | "reconnecting" | "offline";

export interface StatusCounts {
  servers: number;
  ready: number;
  tools: number;
  attention: number;
  toolsets?: number;
  /** Whether optimization is on. */
  optimizing?: boolean;
}

/** Written by the one live channel of the page, in the browser only; read by any island. */
export const liveState = signal<LiveState>("connecting");
export const liveCounts = signal<StatusCounts | undefined>(undefined);

/**
 * What can change besides servers, by the names of its events. A page that shows one of them says
 * so with `data-live`; an island that wants the event's own data asks with `onLive()`.
 */
export const LIVE_KINDS = [
  "activity",
  "calls",
  "embeddings",
  "logs",
  "optimization",
  "sessions",
  "settings",
  "tools",
  "toolsets",
] as const;
export type LiveKind = typeof LIVE_KINDS[number];

/** What the channel tells besides counts: what changed, or that much was missed. */
export interface LiveListener {
  onServer(name: string): void;
  onKind?(kind: LiveKind): void;
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
  readonly #open: () => Source;
  #source: Source | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #offline: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #hasOpened = false;
  #missedUnknown = false;

  constructor(listener: LiveListener, open: () => Source = () => new EventSource("/api/events")) {
    this.#listener = listener;
    this.#open = open;
  }

  start(): void {
    if (this.#source !== undefined) return;
    clearTimeout(this.#retry);
    // A stream of our own making names no last event, so what was missed is unknown.
    this.#missedUnknown = this.#hasOpened;
    const source = this.#source = this.#open();
    source.addEventListener("open", () => this.#onOpen());
    source.addEventListener("error", () => this.#onError(source));
    source.addEventListener("status", ({ data }) => {
      liveCounts.value = readCounts(data) ?? liveCounts.peek();
    });
    source.addEventListener("server", ({ data }) => {
      const name = readName(data);
      if (name !== undefined) this.#listener.onServer(name);
    });
    for (const kind of LIVE_KINDS) {
      source.addEventListener(kind, ({ data }) => {
        const listeners = dataListeners.get(kind);
        if (listeners?.size) {
          const value: unknown = JSON.parse(data);
          for (const listener of listeners) listener(value);
        }
        this.#listener.onKind?.(kind);
      });
    }
    source.addEventListener("reset", () => this.#listener.onReset());
  }

  stop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#offline);
    this.#offline = undefined;
    this.#source?.close();
    this.#source = undefined;
  }

  #onOpen(): void {
    clearTimeout(this.#offline);
    this.#offline = undefined;
    this.#failures = 0;
    this.#hasOpened = true;
    liveState.value = "live";
    if (this.#missedUnknown) this.#listener.onReset();
    this.#missedUnknown = false;
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

function readCounts(data: string): StatusCounts | undefined {
  const { servers, ready, tools, attention, toolsets, optimizing } = JSON.parse(data);
  const isWhole = [servers, ready, tools, attention].every(Number.isInteger);
  if (!isWhole) return undefined;
  return {
    servers,
    ready,
    tools,
    attention,
    ...(Number.isInteger(toolsets) ? { toolsets } : {}),
    ...(typeof optimizing === "boolean" ? { optimizing } : {}),
  };
}

function readName(data: string): string | undefined {
  const { name } = JSON.parse(data);
  return typeof name === "string" ? name : undefined;
}
