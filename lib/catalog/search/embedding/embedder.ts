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

type EmbeddingOptions = "embeddingsUrl" | "embeddingsModel" | "embeddingsKey";

export async function createEmbedder(
  options: Pick<Options, "embeddings"> & Partial<Pick<Options, EmbeddingOptions>>,
): Promise<Embedder | undefined> {
  const { embeddings: backend, embeddingsUrl: url, embeddingsModel: model } = options;
  if (backend === "none") return undefined;
  if (backend === "local") {
    const { TableEmbedder } = await import("./table_embedder.ts");
    return await TableEmbedder.open();
  }
  const { ollamaEmbedder, openAiEmbedder } = await import("./http_embedders.ts");
  if (backend === "ollama") {
    return ollamaEmbedder({
      url: url ?? "http://127.0.0.1:11434",
      model: model ?? "nomic-embed-text",
    });
  }
  if (url === undefined || model === undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message: 'Cannot use the embedding backend "openai": its URL or model is not set',
      recoveryAction: "Set both, or choose another backend",
    });
  }
  return openAiEmbedder({ url, model, apiKey: options.embeddingsKey });
}
