import { compose, type Gateway } from "./compose.ts";
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
    this.#read ??= readOptions(this.#args, this.#env, { os: Deno.build.os, cwd: Deno.cwd() });
    return this.#read;
  }

  /** Tells which port the system chose; before that the configured one counts. */
  listensOn(port: number): void {
    this.#port = port;
  }

  get(): Promise<Gateway> {
    this.#gateway ??= this.options().then((read) =>
      compose({ read, env: this.#env, cwd: Deno.cwd(), port: this.#port ?? read.options.port })
    );
    return this.#gateway;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#gateway?.then(
      (gateway) => gateway[Symbol.asyncDispose](),
      () => {}, // It never came to be, and whoever asked for it was told why.
    ) ?? Promise.resolve();
    return this.#disposed;
  }
}
