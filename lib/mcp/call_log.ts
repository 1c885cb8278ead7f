import { getOrMake } from "../core/defined.ts";
import { shortened } from "../core/text.ts";
import { type CallRecord, sessionMark } from "../telemetry/call_recorder.ts";
import type { Logger } from "../telemetry/logs.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { AnsweredRequest, McpEndpoint } from "./endpoint_host.ts";
import { looksFailed } from "./protocol.ts";
import type { Session } from "./session.ts";

/** Calls beyond this many in a second are counted, and mentioned with the next line. */
const MOST_A_SECOND = 20;
const NAME_CHARS = 100;

interface LoggedRequest {
  endpoint: Pick<McpEndpoint, "key" | "server">;
  message: { method: string; params: Record<string, unknown> };
  call: CallRecord | undefined;
  answer: AnsweredRequest["answer"];
  session: Pick<Session, "id" | "profile">;
  /** Made only for a line that is written; default: the session's mark. */
  correlationId(): string | undefined;
}

/** Logs tool calls with their outcome; other requests only at debug. */
export class CallLog {
  readonly #log: Logger;
  readonly #now: () => number;
  #second = 0;
  #written = 0;
  #skipped = 0;

  constructor(log: Logger, now: () => number = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  write({ endpoint, message, session, call, answer, correlationId }: LoggedRequest): void {
    const { method, params } = message;
    const isCall = method === "tools/call";
    const level = isCall ? "info" : "debug";
    if (!this.#log.isLevelEnabled(level)) return;
    if (isCall && !this.#log.isLevelEnabled("debug") && !this.#hasRoom()) return;
    const server = call?.server ?? endpoint.server;
    const tool = call?.tool ?? (typeof params.name === "string" ? params.name : undefined);
    const skipped = isCall ? this.#skipped : 0;
    if (isCall) this.#skipped = 0;
    const client = session.profile.clientInfo?.name;
    this.#log[level]({
      requestId: crypto.randomUUID(),
      correlationId: correlationId() ?? sessionMark(session),
      ...call?.trace,
      endpoint: endpoint.key,
      ...(server === undefined ? {} : { serverName: server }),
      method,
      ...(isCall && tool !== undefined ? { toolName: shortened(tool, NAME_CHARS) } : {}),
      ...(typeof client === "string" ? { client: shortened(client, NAME_CHARS) } : {}),
      outcome: looksFailed(answer.text) ? "error" : "ok",
      duration: Math.round(answer.ms * 100) / 100,
      ...(skipped === 0 ? {} : { skipped }),
    }, "Call");
  }

  #hasRoom(): boolean {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) [this.#second, this.#written] = [second, 0];
    if (this.#written++ < MOST_A_SECOND) return true;
    this.#skipped++;
    return false;
  }
}

/** Counts calls by server, tool and outcome, and searches by what they found. */
export function callCounter(metrics: Metrics) {
  const calls = metrics.counter("quartermaster_tool_calls_total");
  const seconds = metrics.durations("quartermaster_tool_call_seconds");
  const searches = metrics.counter("quartermaster_searches_total");
  const known = new Map<string, Readonly<Record<string, string>>>();
  const labelsOf = (labels: Record<string, string>) =>
    getOrMake(known, Object.values(labels).join("\n"), () => Object.freeze(labels));
  return ({ server, tool, search }: CallRecord, isError: boolean, ms: number): void => {
    // Names come and go; counters keep their own limit.
    if (known.size > MOST_LABELS) known.clear();
    if (search) {
      searches(labelsOf({ tool, outcome: search.isHit ? "found" : "nothing" }));
      return;
    }
    calls(labelsOf({ server, tool, outcome: isError ? "error" : "ok" }));
    seconds(ms / 1000, labelsOf({ server }));
  };
}

const MOST_LABELS = 10_000;
