import { join } from "@std/path";
import type { Options } from "../config/option_table.ts";
import type { Bus } from "../core/bus.ts";
import { ActivityRepository } from "../storage/activity_repository.ts";
import type { Restore } from "../storage/module.ts";
import type { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";
import { ActivityReader } from "./activity_reader.ts";
import { openAudit } from "./audit.ts";
import { CallDetails, CallRecorder } from "./call_recorder.ts";
import { countCalls, type CountedCalls, countUses, type CoUse } from "./call_stats.ts";
import { lineFormat, type LogTerminal } from "./log_lines.ts";
import { Logs } from "./logs.ts";
import { Metrics } from "./metrics.ts";
import { startTracing } from "./tracing.ts";

/** More than are shown: some may no longer fit the schema. */
const EXAMPLE_CALLS = 5;
const MEMORY_EVERY_MS = 60_000;

export interface TelemetryInput {
  store: Store;
  logs: Logs;
  options: Pick<Options, "activityRetention" | "activityCalls" | "callExamples" | "otlp">;
  startedAt: number;
  bus: Bus;
  /** Tells this process's calls from those of others. */
  lease: { id: string };
  mailbox: { readonly waiting: number };
  access: {
    nameOf(principal: string): string;
  };
  live: { tell(subject: "audit"): void };
  restore: Restore;
  onWarning(message: string, details?: object): void;
}

export type TelemetryModule = Awaited<ReturnType<typeof openTelemetry>>;

/** Opens the log before anything else: all modules write to it. "none": only to be read from here. */
export async function openLogs(
  options: Options,
  output: LogTerminal | "none" | undefined,
): Promise<Logs> {
  const { dataDir } = options;
  const terminal = output === "none" ? { format: () => undefined, write: () => {} } : output;
  const logs = await Logs.open({
    level: options.logLevel,
    format: terminal?.format ?? lineFormat(options.logFormat),
    console: terminal && ((line) => terminal.write(line)),
    development: options.development,
    keepFiles: options.logRetention,
    ...(dataDir === undefined || output === "none" ? {} : { folder: join(dataDir, "logs") }),
  });
  for (const secret of [options.embeddingsKey, options.adminToken, options.secretKey]) {
    if (secret !== undefined) logs.redactor.learn([secret]);
  }
  return logs;
}

export async function openTelemetry(input: TelemetryInput) {
  const { store, logs, options, startedAt, onWarning } = input;
  const { redactor } = logs;
  input.bus.on("serverRemoved", (name) => logs.about.forget(name));
  const stack = new AsyncDisposableStack();
  const audit = openAudit({
    stack,
    store,
    redactor,
    nameOf: (principal) => input.access.nameOf(principal),
    onNoted: () => input.live.tell("audit"),
    onWarning,
  });

  if (input.restore.applied?.ok) {
    const { ok: _, ...after } = input.restore.applied;
    audit.note({ action: "data.restore", subject: "data store", after });
  }

  const metrics = new Metrics();
  // With OTEL_DENO the runtime itself exports spans.
  if (options.otlp && !startTracing()) {
    const { startExport } = await import("./otlp.ts");
    stack.use(startExport({ metrics, instance: input.lease.id, startedAt, onWarning }));
  }
  startTracing();
  const count = metrics.counter("quartermaster_http_requests_total");
  const time = metrics.durations("quartermaster_http_request_seconds");
  // By a clock that nobody sets.
  const begun = performance.now() - (Date.now() - startedAt);
  const uptimeSeconds = () => Math.round((performance.now() - begun) / 1000);
  metrics.gauge("quartermaster_messages_waiting", () => input.mailbox.waiting);
  metrics.gauge("quartermaster_uptime_seconds", uptimeSeconds);
  metrics.gauge("quartermaster_memory_bytes", () => Deno.memoryUsage().rss);
  const memoryLog = logs.module("memory");
  const memoryTimer = setInterval(
    () => memoryLog.debug(Deno.memoryUsage(), "Memory"),
    MEMORY_EVERY_MS,
  );
  stack.defer(() => clearInterval(memoryTimer));

  const callRecords = new ActivityRepository(store);
  const activity = stack.use(
    new ActivityLog({
      repository: callRecords,
      processId: input.lease.id,
      onWarning,
      // Read at each use: they can change while the gateway runs.
      get keepDays() {
        return options.activityRetention;
      },
      get maxCalls() {
        return options.activityCalls;
      },
    }),
  );
  const details = new CallDetails({});
  let stats: CountedCalls | undefined;
  let uses: ReturnType<typeof countUses> | undefined;
  /** Counted from the first time this is called. */
  const past = () => uses ??= countUses({ activity, repository: callRecords, onWarning });

  return {
    audit,
    metrics,
    activity,
    /** The stored calls, of all gateways on this store. */
    callRecords,
    recorder: new CallRecorder({ log: activity, details, redactor }),
    calls: new ActivityReader({ repository: callRecords, log: activity, details, redactor }),
    activityDays: () => callRecords.days(),
    uptimeSeconds,
    countRequest(method: string, status: number, seconds: number): void {
      count({ method, status: String(status) });
      time(seconds);
    },
    /** Of the last 24 hours; counted from the first time this is called. */
    callStats: (): CountedCalls =>
      stats ??= countCalls({ activity, repository: callRecords, onWarning }),
    /** Which tools are used together. */
    coUse: (): CoUse => past().together,
    /** What an owner called after its searches. */
    searchPicks: (owner: string) => past().picks.of(owner),
    /** Arguments of the owner's last calls that went well, if showing them is allowed. */
    exampleCalls(owner: string, server: string, tool: string): Record<string, unknown>[] {
      if (!options.callExamples) return [];
      const found: Record<string, unknown>[] = [];
      for (const args of details.succeeded(owner, server, tool)) {
        const text = JSON.stringify(args);
        // Arguments with a secret are left out: without it they would show nothing.
        if (redactor.json(text) === text) found.push(args);
        if (found.length === EXAMPLE_CALLS) break;
      }
      return found;
    },
    async clearCalls(): Promise<void> {
      details.clear();
      await activity.clear();
      uses?.forgetPicks();
    },
    /** Another gateway cleared the activity log. */
    forgetPicks: () => uses?.forgetPicks(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
