import { join } from "@std/path";
import * as z from "zod";
import pino from "pino";
import { parseJson } from "../core/rpc.ts";
import { type LineFormat, writeToStderr } from "./log_lines.ts";
import { Redactor } from "./redact.ts";
import { traceFields } from "./tracing.ts";

export type Logger = pino.Logger;
type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal";

export interface LogsOptions {
  level: LogLevel;
  /** How stderr shows an entry; default: as JSON. */
  format?: LineFormat | undefined;
  /** Stack traces and the place in the source that logged. */
  development: boolean;
  /** Where this run's file goes; without it there is none. */
  folder?: string;
  keepFiles: number;
  /** A file that grows past this is followed by a new one. */
  maxFileBytes?: number;
  /** Receives the lines for the terminal; default: stderr. */
  console?: ((line: string) => void) | undefined;
}

/** The log of one run: a child logger per module, all to stderr and to the run's file. */
export class Logs implements AsyncDisposable {
  readonly redactor = new Redactor();
  /** What was lately logged about each server, for a person at the console. */
  readonly about = new ServerLines();
  readonly #root: Logger;
  readonly #loggers = new Map<string, Logger>();
  readonly #console: (line: string) => void;
  readonly #options: LogsOptions;
  #file: FileSink | undefined;

  private constructor(options: LogsOptions, file: FileSink | undefined) {
    this.#options = options;
    this.#file = file;
    const { console: write = writeToStderr, format = (json) => json } = options;
    this.#console = (json) => {
      const line = format(json);
      if (line !== undefined) write(line);
    };
    this.#root = pino({
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) =>
          named(
            this.redactor.value(fields, { stacks: options.development }) as Record<string, unknown>,
          ),
      },
      serializers: { err: (error) => error, error: (error) => error },
      mixin: () => ({
        ...traceFields(),
        ...(options.development ? { source: callerOutsideLogger() } : {}),
      }),
    }, { write: (line) => this.#write(line) });
  }

  static async open(options: LogsOptions): Promise<Logs> {
    if (!options.folder) return new Logs(options, undefined);
    try {
      const file = await FileSink.open(options.folder, options);
      const logs = new Logs(options, file);
      file.onError = (error) => logs.#dropFile(error);
      return logs;
    } catch (error) {
      const logs = new Logs(options, undefined);
      logs.module("telemetry").warn(
        { err: error },
        "Cannot create a log file: logging to stderr only",
      );
      return logs;
    }
  }

  get filePath(): string | undefined {
    return this.#file?.path;
  }

  module(name: string): Logger {
    const existing = this.#loggers.get(name);
    if (existing) return existing;
    const logger = this.#root.child({ module: name });
    this.#loggers.set(name, logger);
    return logger;
  }

  get level(): LogLevel {
    return this.#root.level as LogLevel;
  }

  set level(level: LogLevel) {
    this.#root.level = level;
    for (const logger of this.#loggers.values()) logger.level = level;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
  }

  #write(line: string): void {
    const clean = this.redactor.text(line);
    this.#console(clean);
    this.#file?.write(clean);
    this.about.take(clean);
  }

  #dropFile(error: Error): void {
    this.#file = undefined;
    this.module("telemetry").warn(
      { err: error, folder: this.#options.folder },
      "Cannot write to the log file anymore: logging to stderr only",
    );
  }
}

/** Metrics, traces and the activity log say `server` and `tool`. */
function named({ serverName, toolName, ...others }: Record<string, unknown>) {
  return {
    ...(serverName === undefined ? {} : { server: serverName }),
    ...(toolName === undefined ? {} : { tool: toolName }),
    ...others,
  };
}

/** One run's file: written asynchronously, followed by another when it has grown too long. */
class FileSink {
  onError: (error: Error) => void = () => {};
  readonly #destination: ReturnType<typeof pino.destination>;
  readonly #folder: string;
  readonly #limit: number;
  readonly #keep: number;
  #path: string;
  #bytes = 0;
  #rotation: Promise<void> | undefined;

  private constructor(folder: string, path: string, options: LogsOptions) {
    this.#folder = folder;
    this.#path = path;
    this.#limit = options.maxFileBytes ?? 50 * 1024 * 1024;
    this.#keep = options.keepFiles;
    this.#destination = pino.destination({ dest: path, sync: false, append: true });
    this.#destination.on("error", (error: Error) => this.onError(error));
  }

  static async open(folder: string, options: LogsOptions): Promise<FileSink> {
    const path = await createLogFile(folder, new Date());
    await pruneLogFiles(folder, options.keepFiles);
    return new FileSink(folder, path, options);
  }

  get path(): string {
    return this.#path;
  }

  write(line: string): void {
    this.#bytes += line.length;
    this.#destination.write(line);
    if (this.#bytes > this.#limit) this.#rotation ??= this.#rotate();
  }

  async #rotate(): Promise<void> {
    try {
      this.#path = await createLogFile(this.#folder, new Date());
      this.#destination.reopen(this.#path);
      this.#bytes = 0;
      await pruneLogFiles(this.#folder, this.#keep);
    } catch (error) {
      this.onError(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#rotation = undefined;
    }
  }

  async close(): Promise<void> {
    // A disk that hangs must not keep the process alive.
    const limit = AbortSignal.timeout(1_000);
    await Promise.race([
      this.#finish(),
      new Promise<void>((resolve) => limit.addEventListener("abort", () => resolve())),
    ]);
  }

  async #finish(): Promise<void> {
    // What a rotation has begun is ended first: the new file opened, the old ones pruned.
    await this.#rotation;
    const closed = new Promise<void>((resolve) => this.#destination.once("close", resolve));
    this.#destination.end();
    await closed;
  }
}

function callerOutsideLogger(): string | undefined {
  const frames = new Error().stack?.split("\n") ?? [];
  const frame = frames.find((line) =>
    line.startsWith("    at ") && !line.includes("/telemetry/logs.ts") && !line.includes("/pino/")
  );
  return frame?.match(/([^/\\(]+:\d+):\d+\)?$/)?.[1];
}

export interface ServerLine {
  time: number;
  level: string;
  text: string;
}

const KEPT_LINES = 200;
/** More servers than anybody has: names that come and go must not add up. */
const KEPT_SERVERS = 2_000;

const Entry = z.object({
  level: z.string(),
  time: z.iso.datetime(),
  server: z.string(),
  msg: z.string(),
  reason: z.string().optional(),
  problem: z.string().optional(),
  tool: z.string().optional(),
  err: z.object({ message: z.string() }).optional(),
});

/** The last lines of the log about each server, as they were written: redacted. */
export class ServerLines {
  readonly #lines = new Map<string, ServerLine[]>();

  /** Takes a line of the log, if it is about a server. */
  take(line: string): void {
    // Most lines are not, and are not worth a parse.
    if (!line.includes('"server":')) return;
    const entry = Entry.safeParse(parseJson(line)).data;
    // What the server itself wrote, and its calls, are kept elsewhere.
    if (entry === undefined || entry.msg === "stderr" || entry.msg === "Call") return;
    const { server, level, time } = entry;
    const lines = this.#lines.get(server) ?? [];
    lines.push({ time: Date.parse(time), level, text: inWords(entry) });
    if (lines.length > KEPT_LINES) lines.shift();
    this.#lines.set(server, lines);
    if (this.#lines.size > KEPT_SERVERS) this.forget(this.#lines.keys().next().value ?? "");
  }

  of(server: string): ServerLine[] {
    return this.#lines.get(server)?.toReversed() ?? [];
  }

  forget(server: string): void {
    this.#lines.delete(server);
  }
}

function inWords({ msg, reason, problem, tool, err }: z.infer<typeof Entry>): string {
  const why = reason ?? err?.message ?? problem;
  const what = tool === undefined ? msg : `${msg} (${tool})`;
  return why === undefined ? what : `${what}: ${why}`;
}

const NAME = /^quartermaster_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(_\d+)?\.log$/;

/** A new, empty log file for this run, readable by its owner only. */
async function createLogFile(folder: string, now: Date): Promise<string> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const stem = `quartermaster_${now.toISOString().slice(0, 19).replaceAll(":", "-")}`;
  for (let attempt = 1;; attempt++) {
    const path = join(folder, attempt === 1 ? `${stem}.log` : `${stem}_${attempt}.log`);
    try {
      (await Deno.open(path, { write: true, createNew: true, mode: 0o600 })).close();
      return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists) || attempt === 100) throw error;
    }
  }
}

/** Removes the oldest log files beyond the newest `keep`; other files are left alone. */
async function pruneLogFiles(folder: string, keep: number): Promise<void> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isFile && NAME.test(entry.name)) names.push(entry.name);
  }
  const stale = names.sort().slice(0, Math.max(0, names.length - keep));
  // Another gateway on the same folder may have removed it first.
  await Promise.all(stale.map((name) => Deno.remove(join(folder, name)).catch(() => {})));
}
