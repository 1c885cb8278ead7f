import { z } from "zod";
import type { Embedder } from "./embedder.ts";
import { postForVectors, toVectors, Vectors } from "./http_embedding.ts";

const Answer = z.looseObject({ embeddings: Vectors });

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
      answer: Answer,
      signal,
    });
    return toVectors("Ollama", embeddings, texts.length);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
