import { STDIO_FLAGS } from "./cli/stdio_flags.ts";
import type { Gateway } from "./compose.ts";
import { type Env, systemEnv } from "./config/env.ts";
import { type ReadOptions, readOptions } from "./config/options.ts";

/**
 * The one gateway of this process. It is composed when first asked for, so that importing the app
 * (as the build does) starts nothing, and disposed once, whoever asks.
 */
export class GatewayHost implements AsyncDisposable {
  readonly #args: readonly string[];
  readonly #env: Env;
  #read: Promise<ReadOptions> | undefined;
  #port: number | undefined;
  #gateway: Promise<Gateway> | undefined;
  #disposed: Promise<void> | undefined;

  constructor(args: readonly string[] = Deno.args, env: Env = systemEnv()) {
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

  /** Tells which port the system chose; before that the configured one counts. */
  listensOn(port: number): void {
    this.#port = port;
  }

  get(): Promise<Gateway> {
    return this.#gateway ??= this.#compose();
  }

  async #compose(): Promise<Gateway> {
    const read = await this.options();
    // Loaded when needed: a bridge to a gateway that already runs does without all of it.
    const { compose } = await import("./compose.ts");
    const port = this.#port ?? (read.options.stdio ? undefined : read.options.port);
    return await compose({ read, env: this.#env, cwd: Deno.cwd(), port });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#gateway?.then(
      (gateway) => gateway[Symbol.asyncDispose](),
      () => {}, // It never came to be, and whoever asked for it was told why.
    ) ?? Promise.resolve();
    return this.#disposed;
  }
}
