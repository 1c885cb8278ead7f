import type { Logger } from "../telemetry/logs.ts";
import type { Connection } from "./connection.ts";
import type { StatusBoard } from "./status_board.ts";
import { listToolTexts } from "./tool_listing.ts";
import { ToolRefresher } from "./tool_refresher.ts";

export interface ListedToolsOptions {
  serverName: string;
  log: Logger;
  status: StatusBoard;
  /** The connection in use, if there is one. */
  current(): Connection | undefined;
  knownTools(name: string): Promise<string[]>;
  onTools(name: string, tools: string[]): Promise<number>;
  /** Aborts when the server is done with. */
  signal: AbortSignal;
}

/** Keeps what is known of a server's tools in step with what the server lists. */
export class ListedTools {
  readonly #options: ListedToolsOptions;
  readonly #refresher: ToolRefresher;
  /** They have changed while they were listed for a connection that is not in use yet. */
  #isStale = false;

  constructor(options: ListedToolsOptions) {
    this.#options = options;
    this.#refresher = new ToolRefresher(() => this.#reload(), options.signal);
  }

  /** Lists them for a new connection; nothing is taken once the signal has aborted. */
  async load(connection: Connection, signal: AbortSignal): Promise<void> {
    const { serverName, onTools, status } = this.#options;
    this.#isStale = false;
    const tools = await listToolTexts(connection, serverName);
    signal.throwIfAborted();
    const toolCount = await onTools(serverName, tools);
    signal.throwIfAborted();
    status.note({ toolCount });
  }

  /** The connection they were loaded for is in use now. */
  loaded(): void {
    if (this.#isStale) void this.refresh();
  }

  /** The server says that they have changed. */
  changed(): void {
    if (this.#options.current()) void this.refresh();
    else this.#isStale = true;
  }

  refresh(): Promise<void> {
    return this.#refresher.request();
  }

  /** Falls back on those that it listed before; false where none are known. */
  async recall(signal: AbortSignal): Promise<boolean> {
    const { serverName, log, knownTools, onTools, status } = this.#options;
    try {
      const tools = await knownTools(serverName);
      if (tools.length === 0 || signal.aborted) return false;
      const toolCount = await onTools(serverName, tools);
      if (signal.aborted) return false;
      status.note({ toolCount });
      return true;
    } catch (err) {
      log.warn({ serverName, err }, "Cannot recall the server's tools");
      return false;
    }
  }

  async #reload(): Promise<void> {
    const { serverName, log, current, onTools, status } = this.#options;
    const connection = current();
    if (!connection) return;
    try {
      const tools = await listToolTexts(connection, serverName);
      if (connection !== current()) return;
      const toolCount = await onTools(serverName, tools);
      if (connection === current()) status.noteToolCount(toolCount);
    } catch (err) {
      log.warn({ serverName, err }, "Cannot list the server's tools");
    }
  }
}
