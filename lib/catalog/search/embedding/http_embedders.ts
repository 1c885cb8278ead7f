import { z } from "zod";
import { GatewayError } from "../../../core/errors.ts";
import type { Embedder } from "./embedder.ts";

const Vector = z.array(z.number()).min(1).max(16_384);
const Vectors = z.array(Vector);

/** Posts JSON to a backend and reads its answer; what goes wrong says which backend and why. */
async function postForVectors<T>(options: {
  backend: string;
  url: string;
  headers?: Record<string, string>;
  body: unknown;
  answer: z.ZodType<T>;
  signal: AbortSignal;
}): Promise<T> {
  const { backend, url, headers, body, answer, signal } = options;
  let text: string;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal,
    });
    text = await response.text();
    if (!response.ok) throw failure(backend, `it answered ${response.status}`);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    signal.throwIfAborted();
    throw failure(backend, "it cannot be reached", error);
  }
  const parsed = answer.safeParse(readJson(text));
  if (!parsed.success) throw failure(backend, "its answer holds no embeddings", parsed.error);
  return parsed.data;
}

/** One vector a text, all of one size, or the answer is not for these texts. */
function toVectors(backend: string, vectors: number[][], texts: number): Float32Array[] {
  const size = vectors[0]?.length;
  if (vectors.length !== texts || vectors.some(({ length }) => length !== size)) {
    throw failure(backend, `it gave ${vectors.length} embeddings for ${texts} texts`);
  }
  return vectors.map((vector) => Float32Array.from(vector));
}

function failure(backend: string, what: string, cause?: unknown): GatewayError {
  return new GatewayError("NOT_AVAILABLE_HERE", {
    message: `Cannot embed with ${backend}: ${what}`,
    recoveryAction: "Check the address and the model of the embedding backend",
    cause,
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const OllamaAnswer = z.looseObject({ embeddings: Vectors });

/** Embeddings from an Ollama server. */
export class OllamaEmbedder implements Embedder {
  readonly id: string;
  readonly batch = 32;
  readonly #url: string;
  readonly #model: string;

  constructor({ url, model }: { url: string; model: string }) {
    this.#url = `${url.replace(/\/+$/, "")}/api/embed`;
    this.#model = model;
    this.id = `ollama:${model}`;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { embeddings } = await postForVectors({
      backend: "Ollama",
      url: this.#url,
      body: { model: this.#model, input: texts, truncate: true },
      answer: OllamaAnswer,
      signal,
    });
    return toVectors("Ollama", embeddings, texts.length);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

const OpenAiAnswer = z.looseObject({
  data: z.array(z.looseObject({ index: z.int().min(0), embedding: Vectors.element })),
});

/** Embeddings from any server that speaks OpenAI's API: OpenAI, vLLM, TEI, LM Studio. */
export class OpenAiEmbedder implements Embedder {
  readonly id: string;
  readonly batch = 64;
  readonly #url: string;
  readonly #model: string;
  readonly #headers: Record<string, string>;

  constructor({ url, model, apiKey }: { url: string; model: string; apiKey?: string | undefined }) {
    this.#url = `${url.replace(/\/+$/, "")}/embeddings`;
    this.#model = model;
    this.#headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    this.id = `openai:${model}`;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { data } = await postForVectors({
      backend: "the OpenAI-compatible server",
      url: this.#url,
      headers: this.#headers,
      body: { model: this.#model, input: texts, encoding_format: "float" },
      answer: OpenAiAnswer,
      signal,
    });
    const inOrder = data.toSorted((one, other) => one.index - other.index);
    return toVectors(
      "the OpenAI-compatible server",
      inOrder.map(({ embedding }) => embedding),
      texts.length,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
