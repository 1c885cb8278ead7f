import { fileURLToPath } from "node:url";
import { GatewayError } from "../../../core/errors.ts";
import { ROOT, separateModule } from "../../../core/product.ts";
import type { Embedder } from "./embedder.ts";

/** The model takes about 200 MB: it goes when nobody has asked for a while. */
const KEEP_MS = 60_000;

/** The Universal Sentence Encoder (lite), in a process: a worker would keep its memory. */
export class LocalEmbedder implements Embedder {
  readonly id = "local:use-lite-en-0.2.0";
  readonly batch = 8;
  readonly #keepMs: number;
  readonly #waiting = new Map<number, PromiseWithResolvers<Float32Array[]>>();
  #model: ModelProcess | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #nextId = 1;

  constructor(options: { keepMs?: number } = {}) {
    this.#keepMs = options.keepMs ?? KEEP_MS;
  }

  get isLoaded(): boolean {
    return this.#model !== undefined;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted();
    if (texts.length === 0) return [];
    clearTimeout(this.#idleTimer);
    const model = this.#model ??= this.#start();
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<Float32Array[]>();
    this.#waiting.set(id, waiting);
    const abort = () => this.#waiting.delete(id) && waiting.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    model.ask(id, texts);
    try {
      return await waiting.promise;
    } finally {
      signal.removeEventListener("abort", abort);
      if (this.#waiting.size === 0) this.#endWhenIdle();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const model = this.#model;
    this.#end(failure("it was closed"));
    await model?.ended;
  }

  #start(): ModelProcess {
    const model = new ModelProcess((id, vectors) => {
      this.#waiting.get(id)?.resolve(vectors);
      this.#waiting.delete(id);
    });
    model.ended.then(() => {
      if (this.#model === model) this.#end(failure("it ended"));
    });
    return model;
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    if (this.#model === undefined) return;
    this.#idleTimer = setTimeout(() => this.#end(failure("it was idle")), this.#keepMs);
    Deno.unrefTimer(Number(this.#idleTimer));
  }

  #end(reason: unknown): void {
    clearTimeout(this.#idleTimer);
    this.#model?.end();
    this.#model = undefined;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}

/** The running model. It ends by itself when its input does, so that none outlives the gateway. */
class ModelProcess {
  readonly ended: Promise<void>;
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(onVectors: (id: number, vectors: Float32Array[]) => void) {
    try {
      this.#child = start();
    } catch (error) {
      throw failure("its process cannot be started", error);
    }
    this.#writer = this.#child.stdin.getWriter();
    this.ended = this.#read(onVectors);
  }

  ask(id: number, texts: readonly string[]): void {
    const line = new TextEncoder().encode(`${JSON.stringify({ id, texts })}\n`);
    // One that has ended is noticed by its output's end.
    this.#writer.write(line).catch(() => {});
  }

  end(): void {
    this.#writer.close().catch(() => {});
    try {
      this.#child.kill("SIGKILL");
    } catch { /* it has ended already */ }
  }

  async #read(onVectors: (id: number, vectors: Float32Array[]) => void): Promise<void> {
    try {
      for await (const line of readLines(this.#child.stdout)) {
        const { id, vectors }: { id: number; vectors: string[] } = JSON.parse(line);
        const bytes = vectors.map((base64) => Uint8Array.fromBase64(base64));
        onVectors(id, bytes.map(({ buffer }) => new Float32Array(buffer)));
      }
    } catch { /* as good as ended */ }
    this.end();
    await this.#child.status;
  }
}

/** With less right to the processor than what a person waits for, where that can be asked for. */
function start(): Deno.ChildProcess {
  const run = [
    "run",
    "-q",
    // Named, because Deno ignores config files inside node_modules, where an installed package is.
    "--config",
    fileURLToPath(new URL("deno.json", ROOT)),
    "--no-prompt",
    "--cached-only",
    "--allow-read",
    "--allow-env",
    "--v8-flags=--max-semi-space-size=4",
    separateModule("lib/catalog/search/embedding/local_model.ts").href,
  ];
  const pipes = { stdin: "piped", stdout: "piped", stderr: "null" } as const;
  const program = Deno.execPath();
  try {
    const args = ["-n", "10", program, ...run];
    if (Deno.build.os !== "windows") return new Deno.Command("nice", { args, ...pipes }).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return new Deno.Command(program, { args: run, ...pipes }).spawn();
}

function failure(problem: string, cause?: unknown): GatewayError {
  return new GatewayError("NOT_AVAILABLE_HERE", {
    message: `Cannot embed with the local model: ${problem}`,
    recoveryAction: "Check the log, or choose another embedding backend",
    cause,
  });
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts.filter((part) => part !== "");
  }
}
