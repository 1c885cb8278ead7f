import { z } from "zod";
import type { Embedder } from "./embedder.ts";
import { postForVectors, toVectors, Vectors } from "./http_embedding.ts";

const Answer = z.looseObject({
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
      answer: Answer,
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
