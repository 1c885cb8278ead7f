import { isAbsolute, resolve } from "node:path";
import * as z from "zod";
import { GatewayError } from "../../../core/errors.ts";
import { builtFile } from "../../../core/product.ts";
import { parseJson } from "../../../core/rpc.ts";
import { npmProgram } from "../../../servers/processes/npm_program.ts";
import type { Embedder } from "./embedder.ts";
import type { ModelRequest } from "./transformers_model.ts";

/** Fetched from npm when it is first used; about 500 MB on disk, so it is not a dependency. */
const LIBRARY = "npm:@huggingface/transformers@4.3.1";
const PROGRAM = builtFile("lib/catalog/search/embedding/transformers_model.ts");

/** A batch of 32 embeddings of 4,096 dimensions has 700,000 characters. */
const MOST_LINE = 4_000_000;

const Answer = z.union([
  z.strictObject({ id: z.int(), size: z.int().min(1), vectors: z.base64() }),
  z.strictObject({ problem: z.string() }),
]);

interface TransformersOptions {
  /** A folder, or a name at the hub. */
  model: string;
  hub?: { url: string; cache: string; token?: string | undefined } | undefined;
  library?: string;
}

/**
 * A Hugging Face model through Transformers.js, in a process: its native library needs permissions that
 * the gateway does not have, and computing would keep calls waiting.
 */
export class TransformersEmbedder implements Embedder {
  readonly id: string;
  readonly batch = 32;
  readonly #options: TransformersOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<Float32Array[]>>();
  #process: { child: Deno.ChildProcess; ended: Promise<void> } | undefined;
  #nextId = 1;

  constructor(options: TransformersOptions) {
    const { model, hub } = options;
    this.id = `transformers:${model}`;
    this.#options = hub || isAbsolute(model) ? options : { ...options, model: resolve(model) };
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted();
    const { child } = this.#process ??= this.#start();
    const id = this.#nextId++;
    const answer = Promise.withResolvers<Float32Array[]>();
    this.#waiting.set(id, answer);
    const abort = () => answer.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const writer = child.stdin.getWriter();
    // A process that has ended is noticed by the end of its output.
    writer.write(new TextEncoder().encode(`${JSON.stringify({ id, texts })}\n`)).catch(() => {});
    writer.releaseLock();
    try {
      const vectors = await answer.promise;
      if (vectors.length === texts.length) return vectors;
      throw failure(`the model made ${vectors.length} embeddings of ${texts.length} texts`);
    } finally {
      this.#waiting.delete(id);
      signal.removeEventListener("abort", abort);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#process;
    if (!running) return;
    kill(running.child);
    await running.ended;
  }

  #start() {
    const { hub, model, library = LIBRARY } = this.#options;
    const request: ModelRequest = {
      library,
      model,
      hub: hub && { url: hub.url.replace(/\/+$/, ""), cache: hub.cache },
    };
    const child = new Deno.Command(Deno.execPath(), {
      ...npmProgram({
        program: PROGRAM,
        permissions: [
          ...["--allow-read", "--allow-env", "--allow-sys", "--allow-ffi"],
          ...(hub ? ["--allow-net", `--allow-write=${hub.cache}`] : []),
        ],
        args: [JSON.stringify(request)],
        env: hub?.token === undefined ? {} : { HF_TOKEN: hub.token },
      }),
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    return { child, ended: this.#read(child) };
  }

  async #read(child: Deno.ChildProcess): Promise<void> {
    let problem = "its process ended";
    try {
      for await (const line of linesOf(child.stdout)) {
        const { data: answer } = Answer.safeParse(parseJson(line));
        // The library may print, too.
        if (!answer) continue;
        if ("problem" in answer) problem = answer.problem;
        else this.#waiting.get(answer.id)?.resolve(vectorsOf(answer.vectors, answer.size));
      }
    } catch (error) {
      // Nobody waits for this before the end: a rejection would end the gateway.
      problem = `its output cannot be read: ${error instanceof Error ? error.message : error}`;
    } finally {
      this.#process = undefined;
      for (const { reject } of this.#waiting.values()) reject(failure(problem));
      kill(child);
      await child.stdin.close().catch(() => {});
      await child.status;
    }
  }
}

function vectorsOf(base64: string, size: number): Float32Array[] {
  const all = new Float32Array(Uint8Array.fromBase64(base64).buffer);
  return Array.from(
    { length: all.length / size },
    (_, row) => all.subarray(row * size, (row + 1) * size),
  );
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
    rest += first;
    for (const next of more) {
      yield rest;
      rest = next;
    }
    if (rest.length > MOST_LINE) throw new Error(`a line is longer than ${MOST_LINE} characters`);
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch { /* it has ended already */ }
}

function failure(problem: string): GatewayError {
  return new GatewayError("NOT_AVAILABLE_HERE", {
    message: `Cannot embed with transformers: ${problem}`,
    recoveryAction: "Check the model and your access to npm, or choose another embedding backend",
  });
}
