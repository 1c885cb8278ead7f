import pino from "pino";
import { createLogFile, pruneLogFiles } from "./log_files.ts";
import { Redactor } from "./redact.ts";
import { ServerLines } from "./server_lines.ts";

export type Logger = pino.Logger;
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal";

export interface LogsOptions {
  level: LogLevel;
  /** Readable lines for a person; else one JSON object a line. */
  pretty: boolean;
  /** Stack traces and the place in the source that logged. */
  development: boolean;
  /** Where this run's file goes; without it there is none. */
  folder?: string;
  /** How many files of earlier runs to keep. */
  keepFiles: number;
  /** A file that grows past this is followed by a new one. */
  maxFileBytes?: number;
  /** Where the console lines go; stderr unless a test says otherwise. */
  console?: (line: string) => void;
}

/** The log of one run: a child logger per room, all to stderr and to the run's file. */
export class Logs implements AsyncDisposable {
  readonly redactor = new Redactor();
  /** What was lately logged about each server, for a person at the console. */
  readonly about = new ServerLines();
  readonly #root: Logger;
  readonly #rooms = new Map<string, Logger>();
  readonly #console: (line: string) => void;
  readonly #options: LogsOptions;
  #file: FileSink | undefined;

  private constructor(
    options: LogsOptions,
    format: (line: string) => string,
    file: FileSink | undefined,
  ) {
    this.#options = options;
    this.#file = file;
    const write = options.console ?? writeToStderr;
    this.#console = (line) => write(format(line));
    this.#root = pino({
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) =>
          this.redactor.value(fields, { stacks: options.development }) as Record<string, unknown>,
      },
      serializers: { err: (error) => error, error: (error) => error },
      ...(options.development ? { mixin: () => ({ source: callerOutsideLogger() }) } : {}),
    }, { write: (line) => this.#write(line) });
  }

  static async open(options: LogsOptions): Promise<Logs> {
    // Loaded only for a person: it is a third of the start's cost otherwise.
    const format = options.pretty ? await prettyFormat() : (line: string) => line;
    if (!options.folder) return new Logs(options, format, undefined);
    try {
      const file = await FileSink.open(options.folder, options);
      const logs = new Logs(options, format, file);
      file.onError = (error) => logs.#dropFile(error);
      return logs;
    } catch (error) {
      const logs = new Logs(options, format, undefined);
      logs.room("telemetry").warn({ err: error }, "Cannot write a log file: logging here only");
      return logs;
    }
  }

  /** The path of this run's file, if it has one. */
  get filePath(): string | undefined {
    return this.#file?.path;
  }

  room(name: string): Logger {
    const existing = this.#rooms.get(name);
    if (existing) return existing;
    const logger = this.#root.child({ room: name });
    this.#rooms.set(name, logger);
    return logger;
  }

  get level(): LogLevel {
    return this.#root.level as LogLevel;
  }

  set level(level: LogLevel) {
    this.#root.level = level;
    for (const logger of this.#rooms.values()) logger.level = level;
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
    this.room("telemetry").warn(
      { err: error, folder: this.#options.folder },
      "Cannot write the log file any more: logging here only",
    );
  }
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

async function prettyFormat(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    colorize: !Deno.noColor && Deno.stderr.isTerminal(),
    ignore: "room",
    messageFormat: "{room}: {msg}",
    translateTime: "HH:MM:ss.l",
    singleLine: true,
  });
}

const encoder = new TextEncoder();

function writeToStderr(line: string): void {
  // Synchronous on purpose: a crash's last line is the one that matters.
  let bytes = encoder.encode(line);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(Deno.stderr.writeSync(bytes));
    } catch {
      return; // Nobody reads stderr any more; the file still has the line.
    }
  }
}

function callerOutsideLogger(): string | undefined {
  const frames = new Error().stack?.split("\n") ?? [];
  const frame = frames.find((line) =>
    line.startsWith("    at ") && !line.includes("/telemetry/logs.ts") && !line.includes("/pino/")
  );
  return frame?.match(/([^/\\(]+:\d+):\d+\)?$/)?.[1];
}
