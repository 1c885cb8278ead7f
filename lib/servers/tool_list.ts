import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../core/errors.ts";
import { elementTexts, isObject, memberText } from "../core/rpc.ts";
import type { Connection } from "./connection.ts";
import type { ManagedServerOptions } from "./server.ts";
import { headerParameters } from "./stateless_request.ts";
import type { StatusTracker } from "./status.ts";

interface ToolListOptions extends Pick<ManagedServerOptions, "log" | "knownTools" | "onTools"> {
  serverName: string;
  status: StatusTracker;
  current(): Connection | undefined;
  onWarning(line: string): void;
  /** Lists are not asked for more often than this. */
  minTtlMs: number;
  signal: AbortSignal;
}

export class ToolList {
  readonly #options: ToolListOptions;
  readonly #refresher: ToolRefresher;
  /** They have changed while they were listed for a connection that is not in use yet. */
  #isStale = false;
  /** Resolves when the tools of the last run are listed, or known to be missing. */
  #recalling: Promise<boolean> | undefined;
  #expiry: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ToolListOptions) {
    this.#options = options;
    this.#refresher = new ToolRefresher(() => this.#reload(), options.signal);
  }

  /** Lists them for a new connection; nothing is taken once the signal has aborted. */
  async load(connection: Connection, signal: AbortSignal): Promise<void> {
    const { serverName, onTools, status } = this.#options;
    this.#isStale = false;
    const tools = await this.#list(connection);
    // Last, so that remembered tools never replace what the server lists now.
    await this.#recalling;
    signal.throwIfAborted();
    const toolCount = await onTools(serverName, tools);
    signal.throwIfAborted();
    status.note({ toolCount });
  }

  /** The connection they were loaded for is in use now. */
  loaded(): void {
    if (this.#isStale) void this.refresh();
  }

  changed(): void {
    if (this.#options.current()) void this.refresh();
    else this.#isStale = true;
  }

  refresh(): Promise<void> {
    return this.#refresher.request();
  }

  /** Resolves when a recall that has begun is done. */
  get recalled(): Promise<unknown> {
    return this.#recalling ?? Promise.resolve();
  }

  /** Falls back on those that it listed before; false where none are known. */
  recall(signal: AbortSignal): Promise<boolean> {
    return this.#recalling = this.#recall(signal);
  }

  async #recall(signal: AbortSignal): Promise<boolean> {
    const { serverName, log, knownTools, onTools, status } = this.#options;
    try {
      const tools = await knownTools(serverName);
      if (tools.length === 0 || signal.aborted) return false;
      const toolCount = await onTools(serverName, tools);
      if (signal.aborted) return false;
      status.noteToolCount(toolCount);
      return true;
    } catch (err) {
      log.warn({ serverName, err }, "Cannot load the server's stored tools");
      return false;
    }
  }

  async #list(connection: Connection): Promise<string[]> {
    const { serverName, onWarning } = this.#options;
    const { tools, ttlMs } = await listToolPages(connection, serverName);
    if (!connection.isStateless) return tools;
    this.#expireAfter(connection, ttlMs);
    const { parameters, invalid } = headerParameters(tools);
    connection.headerParameters = parameters;
    for (const reason of invalid.values()) onWarning(reason);
    return tools.filter((tool) => !invalid.has(tool));
  }

  /** A server that announces no changes says instead for how long its list is good. */
  #expireAfter(connection: Connection, ttlMs: number | undefined): void {
    clearTimeout(this.#expiry);
    const { tools } = connection.info.capabilities;
    if (ttlMs === undefined || (isObject(tools) && tools.listChanged === true)) return;
    const { minTtlMs, signal } = this.#options;
    this.#expiry = setTimeout(() => {
      if (!signal.aborted && this.#options.current() === connection) void this.refresh();
    }, Math.min(Math.max(ttlMs, minTtlMs), MAX_TTL_MS));
    Deno.unrefTimer(Number(this.#expiry));
  }

  async #reload(): Promise<void> {
    const { serverName, log, current, onTools, status } = this.#options;
    const connection = current();
    if (!connection) return;
    try {
      const tools = await this.#list(connection);
      if (connection !== current()) return;
      const toolCount = await onTools(serverName, tools);
      if (connection === current()) status.noteToolCount(toolCount);
    } catch (err) {
      log.warn({ serverName, err }, "Cannot list the server's tools");
    }
  }
}

/** A server that lists forever is stopped here; real ones have at most a few thousand tools. */
const MAX_TOOLS = 20_000;
const MAX_PAGES = 2_000;
const MAX_CHARS = 64 * 1024 * 1024;
const PAGE_TIMEOUT_MS = 30_000;
/** For all pages together, or a slow server could take hours. */
const LIST_TIMEOUT_MS = 60_000;

const MAX_TTL_MS = 24 * 60 * 60_000;

interface ListedPages {
  tools: string[];
  /** For how long the list is good, by what the server says of all of its pages. */
  ttlMs?: number;
}

export async function listToolTexts(
  ...args: Parameters<typeof listToolPages>
): Promise<string[]> {
  return (await listToolPages(...args)).tools;
}

async function listToolPages(
  connection: Pick<Connection, "has" | "call">,
  serverName: string,
  timeoutMs = LIST_TIMEOUT_MS,
): Promise<ListedPages> {
  if (!connection.has("tools")) return { tools: [] };
  let ttlMs: number | undefined;
  const deadline = Date.now() + timeoutMs;
  const tools: string[] = [];
  const seen = new Set<string>();
  let chars = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const left = deadline - Date.now();
    if (left <= 0) break;
    const { text } = await connection.call({
      method: "tools/list",
      params: cursor === undefined ? undefined : JSON.stringify({ cursor }),
      timeoutMs: Math.min(PAGE_TIMEOUT_MS, left),
      streams: false,
    });
    const result = memberText(text, "result");
    const list = result?.startsWith("{") ? memberText(result, "tools") : undefined;
    if (result === undefined || !list?.startsWith("[")) {
      throw new GatewayError("SERVER_DISCONNECTED", {
        message: `Server "${serverName}" did not list its tools: ${errorMessage(text)}`,
      });
    }
    for (const tool of elementTexts(list)) tools.push(tool);
    const ttl: unknown = JSON.parse(memberText(result, "ttlMs") ?? "null");
    if (typeof ttl === "number") ttlMs = Math.min(ttl, ttlMs ?? ttl);
    const next: unknown = JSON.parse(memberText(result, "nextCursor") ?? "null");
    if (typeof next !== "string" || next === "") {
      return ttlMs === undefined ? { tools } : { tools, ttlMs };
    }
    chars += list.length;
    if (tools.length > MAX_TOOLS || chars > MAX_CHARS || seen.has(next)) break;
    seen.add(next);
    cursor = next;
  }
  throw new GatewayError("LIMIT_EXCEEDED", {
    message: `Server "${serverName}" never finishes its list of tools`,
    recoveryAction: "Ask its author to fix its pagination",
  });
}

function errorMessage(text: string): string {
  const { error } = JSON.parse(text);
  const message = isObject(error) ? error.message : undefined;
  return typeof message === "string" ? message : "its response has no list";
}

/** A server that announces a change with every list must not be listed without end. */
const GAP_MS = 500;

/** Reloads a server's tools on request: never twice at once; requests during a run are merged. */
export class ToolRefresher {
  readonly #load: () => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #gapMs: number;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;

  /** `load` must not throw. */
  constructor(load: () => Promise<void>, signal: AbortSignal, gapMs = GAP_MS) {
    this.#load = load;
    this.#signal = signal;
    this.#gapMs = gapMs;
  }

  /** Resolves when a list that was asked for after this request has come. */
  request(): Promise<void> {
    this.#isAskedAgain = this.#running !== undefined;
    return this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // Begun later, or a server in this process could ask again before this run is known.
    await Promise.resolve();
    do {
      this.#isAskedAgain = false;
      await this.#load();
      if (!this.#isAskedAgain) break;
      await sleep(this.#gapMs, undefined, { signal: this.#signal }).catch(() => {});
    } while (!this.#signal.aborted);
    // In the same breath as the last look, or a request in between would be lost.
    this.#running = undefined;
  }
}
