/** Turns texts into vectors whose directions say what the texts mean. */
export interface Embedder extends AsyncDisposable {
  /** Names the backend and its model: vectors of different ids are never compared. */
  readonly id: string;
  /** How many texts it takes at once. */
  readonly batch: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

export const EMBEDDING_BACKENDS = ["local", "ollama", "openai", "none"] as const;
export type EmbeddingBackend = typeof EMBEDDING_BACKENDS[number];

export interface EmbeddingSettings {
  backend: EmbeddingBackend;
  /** Where `ollama` or `openai` answers. */
  url?: string | undefined;
  model?: string | undefined;
  /** A key for `openai`, where one is needed. */
  apiKey?: string | undefined;
}
