import { GatewayError } from "../../core/errors.ts";
import type { Embedder, EmbeddingSettings } from "./embedder.ts";

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
      const { OllamaEmbedder } = await import("./ollama_embedder.ts");
      return new OllamaEmbedder({
        url: settings.url ?? "http://127.0.0.1:11434",
        model: settings.model ?? "nomic-embed-text",
      });
    }
    case "openai": {
      const { OpenAiEmbedder } = await import("./openai_embedder.ts");
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
