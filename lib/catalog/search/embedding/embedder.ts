import { GatewayError } from "../../../core/errors.ts";

/** Turns texts into vectors whose directions say what the texts mean. */
export interface Embedder extends AsyncDisposable {
  /** Names the backend and its model: vectors of different ids are never compared. */
  readonly id: string;
  /** How many texts it takes at once. */
  readonly batch: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

const EMBEDDING_BACKENDS = ["local", "ollama", "openai", "none"] as const;
type EmbeddingBackend = typeof EMBEDDING_BACKENDS[number];

interface EmbeddingSettings {
  backend: EmbeddingBackend;
  /** Where `ollama` or `openai` answers. */
  url?: string | undefined;
  model?: string | undefined;
  /** A key for `openai`, where one is needed. */
  apiKey?: string | undefined;
}

/** The backend that was configured, loaded only now; undefined for `none`. */
export async function createEmbedder(settings: EmbeddingSettings): Promise<Embedder | undefined> {
  switch (settings.backend) {
    case "none":
      return undefined;
    case "local": {
      const { LocalEmbedder } = await import("./local_embedder.ts");
      return new LocalEmbedder();
    }
    case "ollama": {
      const { OllamaEmbedder } = await import("./http_embedders.ts");
      return new OllamaEmbedder({
        url: settings.url ?? "http://127.0.0.1:11434",
        model: settings.model ?? "nomic-embed-text",
      });
    }
    case "openai": {
      const { OpenAiEmbedder } = await import("./http_embedders.ts");
      if (settings.url === undefined || settings.model === undefined) {
        throw new GatewayError("CONFIG_INVALID", {
          message: 'Cannot use the embedding backend "openai": its url or model is not set',
          recoveryAction: "Set both, or choose another backend",
        });
      }
      return new OpenAiEmbedder({
        url: settings.url,
        model: settings.model,
        apiKey: settings.apiKey,
      });
    }
  }
}
