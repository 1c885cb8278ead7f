import { join } from "@std/path";
import type { Options } from "../../../config/option_table.ts";
import { GatewayError } from "../../../core/errors.ts";

export interface Embedder extends AsyncDisposable {
  /** Names the backend and its model: vectors of different ids are never compared. */
  readonly id: string;
  readonly batch: number;
  /** Computing a vector costs less than reading a stored one. */
  readonly isInstant?: boolean;
  /** Whether it was trained with this word, for a model of one language. */
  knows?(word: string): boolean;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

type EmbeddingOptions = "embeddingsUrl" | "embeddingsModel" | "embeddingsKey" | "dataDir";

export async function createEmbedder(
  options: Pick<Options, "embeddings"> & Partial<Pick<Options, EmbeddingOptions>>,
): Promise<Embedder | undefined> {
  const { embeddings: backend, embeddingsUrl: url, embeddingsModel: model } = options;
  if (backend === "none") return undefined;
  if (backend === "local") {
    const { TableEmbedder } = await import("./table_embedder.ts");
    return await TableEmbedder.open();
  }
  if (backend === "transformers") {
    if (model === undefined) {
      throw incomplete("transformers", "its model is not set", "Set a folder, or a URL and a name");
    }
    const { TransformersEmbedder } = await import("./transformers_embedder.ts");
    const cache = join(options.dataDir ?? Deno.cwd(), "models");
    const hub = url === undefined ? undefined : { url, cache, token: options.embeddingsKey };
    return new TransformersEmbedder({ model, hub });
  }
  const { ollamaEmbedder, openAiEmbedder } = await import("./http_embedders.ts");
  if (backend === "ollama") {
    return ollamaEmbedder({
      url: url ?? "http://127.0.0.1:11434",
      model: model ?? "nomic-embed-text",
    });
  }
  if (url === undefined || model === undefined) {
    throw incomplete("openai", "its URL or model is not set", "Set both");
  }
  return openAiEmbedder({ url, model, apiKey: options.embeddingsKey });
}

function incomplete(backend: string, problem: string, remedy: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", {
    message: `Cannot use the embedding backend "${backend}": ${problem}`,
    recoveryAction: `${remedy}, or choose another backend`,
  });
}
