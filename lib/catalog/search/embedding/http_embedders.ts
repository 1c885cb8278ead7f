import * as z from "zod";
import { GatewayError } from "../../../core/errors.ts";
import { parseJson } from "../../../core/rpc.ts";
import type { Embedder } from "./embedder.ts";

interface HttpBackend {
  name: string;
  id: string;
  batch: number;
  url: string;
  headers?: Record<string, string>;
  body: Record<string, unknown>;
  answer: z.ZodType<number[][]>;
}

const Vector = z.array(z.number()).min(1).max(16_384);

export function ollamaEmbedder({ url, model }: { url: string; model: string }): Embedder {
  return httpEmbedder({
    name: "Ollama",
    id: `ollama:${model}`,
    batch: 32,
    url: `${url.replace(/\/+$/, "")}/api/embed`,
    body: { model, truncate: true },
    answer: z.looseObject({ embeddings: z.array(Vector) }).transform((found) => found.embeddings),
  });
}

/** Embeddings from any server that speaks OpenAI's API: OpenAI, vLLM, TEI, LM Studio. */
export function openAiEmbedder(
  { url, model, apiKey }: { url: string; model: string; apiKey?: string | undefined },
): Embedder {
  const Embedding = z.looseObject({ index: z.int().min(0), embedding: Vector });
  return httpEmbedder({
    name: "the OpenAI-compatible server",
    id: `openai:${model}`,
    batch: 64,
    url: `${url.replace(/\/+$/, "")}/embeddings`,
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    body: { model, encoding_format: "float" },
    answer: z.looseObject({ data: z.array(Embedding) }).transform(({ data }) =>
      data.toSorted((one, other) => one.index - other.index).map(({ embedding }) => embedding)
    ),
  });
}

function httpEmbedder({ name, id, batch, url, headers, body, answer }: HttpBackend): Embedder {
  const failure = (problem: string, cause?: unknown) =>
    new GatewayError("NOT_AVAILABLE_HERE", {
      message: `Cannot embed with ${name}: ${problem}`,
      recoveryAction: "Check the URL and the model of the embedding backend",
      cause,
    });
  return {
    id,
    batch,
    async embed(texts, signal) {
      let text: string;
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify({ ...body, input: texts }),
          signal,
        });
        text = await response.text();
        if (!response.ok) throw failure(`it responded with HTTP ${response.status}`);
      } catch (error) {
        if (error instanceof GatewayError) throw error;
        signal.throwIfAborted();
        throw failure("it cannot be reached", error);
      }
      const { data: vectors, error } = answer.safeParse(parseJson(text));
      if (!vectors) throw failure("its response contains no embeddings", error);
      const size = vectors[0]?.length;
      if (vectors.length !== texts.length || vectors.some(({ length }) => length !== size)) {
        throw failure(`it returned ${vectors.length} embeddings for ${texts.length} texts`);
      }
      return vectors.map((vector) => Float32Array.from(vector));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
