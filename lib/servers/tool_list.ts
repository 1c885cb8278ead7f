import { Refresher } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import * as z from "zod";
import { elementTexts, isObject, memberText, parseJson } from "../core/rpc.ts";
import type { Connection } from "./connection.ts";
import type { ManagedServerOptions } from "./server.ts";
import type { SdkSession } from "./sdk_client.ts";
import { headerParameters } from "./stateless_request.ts";
import type { StatusTracker } from "./status.ts";

interface ToolListOptions extends Pick<ManagedServerOptions, "log" | "knownTools" | "onTools"> {
  serverName: string;
  status: StatusTracker;
  current(): Connection | undefined;
  onWarning(line: string): void;
  /** Lists that no client asks for are not read more often than this. */
  minTtlMs: number;
  signal: AbortSignal;
}

/** How long a client waits for a list that is no longer good to be read again. */
export const RENEWAL_MS = 2_000;

export class ToolList {
  readonly #options: ToolListOptions;
  readonly #refresher: Refresher;
  /** They have changed while they were listed for a connection that is not in use yet. */
  #isStale = false;
  /** Resolves when the tools of the last run are listed, or known to be missing. */
  #recalling: Promise<boolean> | undefined;
  #expiry: ReturnType<typeof setTimeout> | undefined;
  #listedAt = 0;
  /** Until when the list is good, by the server's own word. */
  #goodUntil: number | undefined;

  constructor(options: ToolListOptions) {
    this.#options = options;
    this.#refresher = new Refresher(() => this.#reload(), options.signal, LIST_GAP_MS);
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

  /** For how long the list is good from now on, if the server has said that. */
  get ttlMs(): number | undefined {
    return this.#goodUntil === undefined ? undefined : Math.max(0, this.#goodUntil - Date.now());
  }

  /** Resolves when a list that is no longer good was read again; undefined if it is good. */
  renewed(): Promise<void> | undefined {
    const isGood = this.#goodUntil === undefined || Date.now() < this.#goodUntil;
    return isGood || Date.now() < this.#listedAt + LIST_GAP_MS ? undefined : this.refresh();
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
    this.#listedAt = Date.now();
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
    this.#goodUntil = undefined;
    const { tools } = connection.info.capabilities;
    if (ttlMs === undefined || (isObject(tools) && tools.listChanged === true)) return;
    const { minTtlMs, signal } = this.#options;
    this.#goodUntil = Date.now() + ttlMs;
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

/** Tools as the texts that came: each is checked on its own, so that an invalid one costs only itself. */
export interface ToolListPage {
  tools: string[];
  nextCursor?: string | undefined;
  ttlMs?: number | undefined;
}

/** The page in a result of tools/list; undefined if that has none. */
export function readToolListPage(result: string): ToolListPage | undefined {
  const list = result.startsWith("{") ? memberText(result, "tools") : undefined;
  if (!list?.startsWith("[")) return undefined;
  const { data } = PageHints.safeParse({
    nextCursor: parseJson(memberText(result, "nextCursor") ?? "null"),
    ttlMs: parseJson(memberText(result, "ttlMs") ?? "null"),
  });
  return { tools: elementTexts(list), ...data };
}

const PageHints = z.object({
  nextCursor: z.string().min(1).optional().catch(undefined),
  ttlMs: z.number().optional().catch(undefined),
});

export function notListed(serverName: string, why: string): GatewayError {
  return new GatewayError("SERVER_DISCONNECTED", {
    message: `Server "${serverName}" did not list its tools: ${why}`,
  });
}

/** The page in a response that was relayed for a client. */
export function toolListPageOf(response: string, serverName: string): ToolListPage {
  const page = readToolListPage(memberText(response, "result") ?? "");
  if (page) return page;
  const error = parseJson(memberText(response, "error") ?? "null");
  const message = isObject(error) ? error.message : undefined;
  throw notListed(serverName, typeof message === "string" ? message : NO_LIST);
}

export const NO_LIST = "its response has no list";

async function listToolPages(
  connection: { has(capability: "tools"): boolean; session: Pick<SdkSession, "listTools"> },
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
    const { tools: listed, nextCursor: next, ttlMs: ttl } = await connection.session.listTools(
      cursor,
      Math.min(PAGE_TIMEOUT_MS, left),
    );
    for (const tool of listed) {
      tools.push(tool);
      chars += tool.length;
    }
    if (ttl !== undefined) ttlMs = Math.min(ttl, ttlMs ?? ttl);
    if (next === undefined || next === "") {
      return ttlMs === undefined ? { tools } : { tools, ttlMs };
    }
    if (tools.length > MAX_TOOLS || chars > MAX_CHARS || seen.has(next)) break;
    seen.add(next);
    cursor = next;
  }
  throw new GatewayError("LIMIT_EXCEEDED", {
    message: `Server "${serverName}" never finishes its list of tools`,
    recoveryAction: "Ask its author to fix its pagination",
  });
}

/** A server that announces a change with every list must not be listed without end. */
export const LIST_GAP_MS = 500;
