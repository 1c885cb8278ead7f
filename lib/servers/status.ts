import { isStarting, type ServerState, type ServerStatus } from "../core/server.ts";
import type { Logger } from "../telemetry/logs.ts";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import { failureCause } from "../core/failure_cause.ts";
import { shortened } from "../core/text.ts";
import { ScopeRequired, TransportClosed } from "./transports/transport.ts";

const TROUBLE: ReadonlySet<ServerState> = new Set(["failed", "degraded", "needs_login"]);

export class StatusTracker {
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
      state: "starting",
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
    const isTrouble = TROUBLE.has(state);
    // The same failure after each retry is not reported again; a retry may begin with an install.
    const isChanged = state !== before.state && !(isTrouble && isStarting(before.state));
    const isNews = isChanged || (isTrouble && lastError !== before.lastError);
    this.#log[!isNews ? "debug" : isTrouble ? "warn" : "info"](
      { serverName: before.name, state, reason, tools: before.toolCount },
      `Server ${state.replace("_", " ")}`,
    );
    this.#onStatus(this.#status);
  }
}

export interface StatePeriod {
  state: ServerState;
  /** In words, as it was last told. */
  reason: string;
  error?: string;
  since: number;
}

const MAX_PERIODS = 30;

export class StateHistory {
  readonly #periods = new Map<string, StatePeriod[]>();

  /** Notes what a server's status is; the same state with other words is no new period. */
  note({ name, state, reason, since, lastError }: ServerStatus): void {
    const periods = this.#periods.get(name) ?? [];
    const isTrouble = TROUBLE.has(state);
    const period: StatePeriod = {
      state,
      reason,
      ...(isTrouble && lastError !== undefined && lastError !== reason ? { error: lastError } : {}),
      since,
    };
    const last = periods.at(-1);
    if (last?.state === state && last.since === since) periods.pop();
    periods.push(period);
    if (periods.length > MAX_PERIODS) periods.shift();
    this.#periods.set(name, periods);
  }

  /** Newest first. */
  of(name: string): StatePeriod[] {
    return this.#periods.get(name)?.toReversed() ?? [];
  }

  forget(name: string): void {
    this.#periods.delete(name);
  }
}

const KEPT_LINES = 1_000;

export class OutputLog {
  readonly #lines: { time: number; line: string }[] = [];

  /** The last line that the server itself wrote. */
  lastOutput: string | undefined;

  add(line: string, kind: "stderr" | "warning" = "stderr"): void {
    this.#lines.push({ time: Date.now(), line });
    if (kind === "stderr") this.lastOutput = line;
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
  }

  /** Oldest first. */
  last(count = KEPT_LINES): { time: number; line: string }[] {
    return this.#lines.slice(-count);
  }
}

const HELPFUL_TOOLS = ["list_servers", "get_server_logs", "restart_server"];

export function notConnected(
  { name, state, reason }: Pick<ServerStatus, "name" | "reason"> & { state: string },
): GatewayError {
  const still = isStarting(state) ? "still " : "";
  const message = `Server "${name}" is ${still}${state.replace("_", " ")}: ${reason}`;
  const failure = (code: ErrorCode, recoverySteps: string[], suggestedTools = ["list_servers"]) =>
    new GatewayError(code, { message, recoverySteps, suggestedTools });
  const another = "Or use a tool from another server";
  if (isStarting(state)) return failure("SERVER_STARTING", ["Try again in a moment"]);
  switch (state) {
    case "disabled":
      return failure("SERVER_NOT_RUNNING", [`Switch "${name}" on in its entry`, another]);
    case "paused":
      return failure("SERVER_NOT_RUNNING", [
        `Ask the owner to resume "${name}" on its page in the console, or with \`quartermaster server resume ${name}\``,
        another,
      ], ["list_servers", "resume_server"]);
    case "needs_login":
      return failure("SERVER_DISCONNECTED", [
        "Log in to the server in the console, then try again",
      ]);
  }
  if (failureCause(reason) === "broken_cache") {
    return failure("SERVER_DISCONNECTED", [
      `Repair it (\`quartermaster server repair ${name}\`, or Repair on its page in the console)`,
    ], ["repair_server", "get_server_logs"]);
  }
  if (failureCause(reason) === "package_changed") {
    return failure("PACKAGE_CHANGED", [
      `Ask the owner to find out why, on the page of "${name}" in the console`,
      another,
    ]);
  }
  return failure("SERVER_DISCONNECTED", [
    "Wait a moment: the gateway reconnects automatically",
    `Check the server's log (\`quartermaster server logs ${name}\`, or its page in the console)`,
    `Restart it (\`quartermaster server restart ${name}\`)`,
  ], HELPFUL_TOOLS);
}

/** Stops waiting before the caller does; the server keeps starting. */
export async function connectedWithin<T>(
  connecting: Promise<T>,
  limitMs: number,
  currentStatus: () => ServerStatus,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const status = currentStatus();
    // A lazy server that is waking up still reports ready.
    const isWaking = status.state === "ready";
    late.reject(
      notConnected(isWaking ? { ...status, state: "starting", reason: "Starting" } : status),
    );
  }, limitMs);
  try {
    return await Promise.race([connecting, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function callLost(name: string, error: TransportClosed): GatewayError {
  // Programs that ended name themselves.
  const message = error.message.includes(`"${name}"`)
    ? error.message
    : `Server "${name}": ${error.message}`;
  if (error instanceof ScopeRequired) {
    return new GatewayError("LOGIN_SCOPE_REQUIRED", {
      message,
      recoverySteps: [
        `Log in to "${name}" again, on its page in the console or with \`quartermaster server login ${name}\`: the login requests the missing scope`,
        "Then repeat the call: the server did not run it",
      ],
      suggestedTools: ["list_servers"],
      cause: error,
    });
  }
  return new GatewayError("SERVER_DISCONNECTED", {
    message,
    recoverySteps: [
      "If the call changes anything, check whether it took effect",
      "Try again: the gateway reconnects automatically",
      `If it happens again, restart "${name}"`,
    ],
    suggestedTools: HELPFUL_TOOLS,
    cause: error,
  });
}

/** Why a connection failed, with the server's last output if it never answered. */
export function failureReason(error: unknown, log: OutputLog): string {
  const message = error instanceof Error ? error.message : String(error);
  const last = log.lastOutput;
  const isSilent = error instanceof GatewayError && error.code === "TIMEOUT";
  return isSilent && last !== undefined
    ? `${message}. Last output: ${last.slice(0, 300)}`
    : message;
}

export function needsLogin(error: unknown): boolean {
  return error instanceof ScopeRequired ||
    (error instanceof TransportClosed && error.kind === "login");
}

/** Whether the server refused a call because it no longer knows our session: it can be repeated. */
export function isSessionLost(error: unknown): boolean {
  const loss = error instanceof GatewayError ? error.cause : error;
  return loss instanceof TransportClosed && loss.kind === "session";
}

const LOG_LINE_CHARS = 2_000;

/** A log message of a server as a line of its log. */
export function logMessageLine({ level, logger, data }: Record<string, unknown>): string {
  const text = typeof data === "string" ? data : JSON.stringify(data) ?? "";
  const importance = typeof level === "string" ? level : "unknown level";
  const from = typeof logger === "string" ? `${logger}: ` : "";
  return shortened(`[${importance}] ${from}${text}`, LOG_LINE_CHARS);
}
