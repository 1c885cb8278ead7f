import { STDIO_FLAGS } from "./stdio_flags.ts";
import type { Gateway, GatewayInput } from "../gateway.ts";
import { type Env, systemEnv } from "../config/platform.ts";
import { type ReadOptions, readOptions } from "../config/options.ts";
import type { LogTerminal } from "../telemetry/log_lines.ts";

/** A job as the live channel sends it; loaded with the gateway. */
type LoadDescribeJob = () => Promise<GatewayInput["describeJob"]>;

/**
 * The one gateway of this process. It is built at first use, so that importing the app (as the
 * build does) starts nothing, and disposed once.
 */
export class GatewayHost implements AsyncDisposable {
  readonly #args: readonly string[];
  readonly #env: Env;
  readonly #describeJob: LoadDescribeJob;
  #read: Promise<ReadOptions> | undefined;
  #port: number | undefined;
  #terminal: LogTerminal | undefined;
  #gateway: Promise<Gateway> | undefined;
  #disposed: Promise<void> | undefined;

  constructor(
    describeJob: LoadDescribeJob,
    args: readonly string[] = Deno.args,
    env: Env = systemEnv(),
  ) {
    this.#describeJob = describeJob;
    this.#args = args;
    this.#env = env;
  }

  options(): Promise<ReadOptions> {
    this.#read ??= readOptions(this.#args, this.#env, {
      os: Deno.build.os,
      cwd: Deno.cwd(),
      commandFlags: STDIO_FLAGS,
    });
    return this.#read;
  }

  /** Sets the port that the system chose; default: the configured one. */
  listensOn(port: number): void {
    this.#port = port;
  }

  /** Sends log entries to this terminal; until then, all go to stderr. */
  logsTo(terminal: LogTerminal): void {
    this.#terminal = terminal;
  }

  get(): Promise<Gateway> {
    return this.#gateway ??= this.#build();
  }

  async #build(): Promise<Gateway> {
    const read = await this.options();
    // Loaded when needed: a bridge to a running gateway uses none of it.
    const { buildGateway } = await import("../gateway.ts");
    const describeJob = await this.#describeJob();
    const port = this.#port ?? (read.options.stdio ? undefined : read.options.port);
    const terminal = this.#terminal;
    return await buildGateway({
      read,
      env: this.#env,
      cwd: Deno.cwd(),
      port,
      terminal,
      describeJob,
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#gateway?.then(
      (gateway) => gateway[Symbol.asyncDispose](),
      () => {}, // It could not be built, and get() said why.
    ) ?? Promise.resolve();
    return this.#disposed;
  }
}
