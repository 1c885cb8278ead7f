import type { Gateway, GatewayInput } from "../gateway.ts";
import { type Env, systemEnv } from "../config/platform.ts";
import { type ReadOptions, readOptions } from "../config/options.ts";
import type { LogTerminal } from "../telemetry/log_lines.ts";
import { isViewName, VIEW_NAMES } from "../http/endpoint_path.ts";
import type { CommandFlag } from "../config/command_line.ts";
import { configError } from "../config/files.ts";

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

/** What `--stdio` shows unless a flag says otherwise. */
const ENDPOINT = "/mcp";

export const STDIO_FLAGS: readonly CommandFlag[] = [
  { flag: "expose", placeholder: "VIEW", meaning: `Tools to list: ${VIEW_NAMES.join(", ")}` },
  { flag: "toolset", placeholder: "NAME", meaning: "List only this toolset" },
  { flag: "server", placeholder: "NAME", meaning: "List only this server, with all of its tools" },
];

export function endpointPathOf(flags: ReadonlyMap<string, string | boolean>): string {
  const given = STDIO_FLAGS.filter(({ flag }) => flags.has(flag));
  if (given.length > 1) {
    throw configError(
      `Cannot open more than one endpoint: ${given.map(({ flag }) => `--${flag}`).join(", ")}`,
      "Use one of them",
    );
  }
  const [only] = given;
  if (!only) return ENDPOINT;
  const value = String(flags.get(only.flag));
  const name = encodeURIComponent(value);
  if (only.flag === "expose") {
    if (isViewName(value)) return `${ENDPOINT}?expose=${name}`;
    throw configError(`Cannot use --expose "${value}"`, `Choose one of ${VIEW_NAMES.join(", ")}`);
  }
  if (value === "") throw configError(`Cannot use --${only.flag} ""`, "Pass a name");
  return only.flag === "toolset" ? `/toolsets/${name}/mcp` : `/servers/${name}/mcp`;
}

export function checkStdioFlags(
  flags: ReadonlyMap<string, string | boolean>,
  { stdio, standalone }: { stdio: boolean; standalone: boolean },
): void {
  const lone = standalone ? "standalone" : STDIO_FLAGS.find(({ flag }) => flags.has(flag))?.flag;
  if (stdio || lone === undefined) return;
  throw configError(`--${lone} is for clients that speak stdio`, "Add --stdio");
}
