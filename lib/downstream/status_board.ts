import type { ServerState, ServerStatus } from "../core/server.ts";
import type { Logger } from "../telemetry/logs.ts";

/** One server's state, as it is shown, logged and told to whoever wants to know. */
export class StatusBoard {
  readonly #log: Logger;
  readonly #onStatus: (status: ServerStatus) => void;
  #status: ServerStatus;

  constructor(
    server: Pick<ServerStatus, "name" | "type" | "source">,
    log: Logger,
    onStatus: (status: ServerStatus) => void,
  ) {
    this.#log = log;
    this.#onStatus = onStatus;
    this.#status = {
      ...server,
      state: "connecting",
      reason: "Not connected yet",
      since: Date.now(),
      toolCount: 0,
    };
  }

  get current(): ServerStatus {
    return this.#status;
  }

  /** Notes what is told with the next change of state. */
  note(facts: Partial<Pick<ServerStatus, "type" | "source" | "toolCount" | "latencyMs">>): void {
    this.#status = { ...this.#status, ...facts };
  }

  noteToolCount(toolCount: number): void {
    if (toolCount === this.#status.toolCount) return;
    this.note({ toolCount });
    this.#onStatus(this.#status);
  }

  set(state: ServerState, reason: string, lastError?: string, retryAt?: number): void {
    const { retryAt: _past, ...before } = this.#status;
    this.#status = {
      ...before,
      state,
      reason,
      since: state === before.state ? before.since : Date.now(),
      ...(lastError === undefined ? {} : { lastError }),
      ...(retryAt === undefined ? {} : { retryAt }),
    };
    const isTrouble = state === "failed" || state === "degraded" || state === "needs_login";
    // The same trouble again, try after try, is no news.
    const isNews = state !== before.state || (isTrouble && lastError !== before.lastError);
    this.#log[!isNews ? "debug" : isTrouble ? "warn" : "info"](
      { serverName: before.name, state, reason, tools: before.toolCount },
      `Server ${state.replace("_", " ")}`,
    );
    this.#onStatus(this.#status);
  }
}
