import { GatewayError } from "../../../core/errors.ts";
import type { VectorsRepository } from "../../../storage/catalog_repositories.ts";
import type { SearchDocument } from "../search_document.ts";
import type { Embedder } from "./embedder.ts";
import { quantize, queryText, ToolVectors, type VectorScores } from "./vectors.ts";

/** A search goes on without meaning rather than keep its caller waiting. */
const QUERY_LIMIT_MS = 3_000;
const BATCH_LIMIT_MS = 120_000;
/** After a failure, so that a backend that is down is not asked for each query. */
const REST_MS = 30_000;
const SAVE_EVERY = 64;
const READ_AT_ONCE = 200;
const MOST_QUERIES_KEPT = 256;
/** Vectors nobody uses are kept for servers that come back, up to this many. */
const MOST_UNUSED = 20_000;

export interface EmbeddingProgress {
  backend: string;
  state: "working" | "ready" | "failed";
  done: number;
  total: number;
  reason?: string;
}

interface SemanticIndexOptions {
  embedder: Embedder;
  /** Others use the embedder, too: it is not closed with this index. */
  isShared?: boolean | undefined;
  /** Keeps vectors over restarts. */
  cache?: Pick<VectorsRepository, "find" | "save" | "prune"> | undefined;
  onProgress?: ((progress: EmbeddingProgress) => void) | undefined;
  queryLimitMs?: number | undefined;
  restMs?: number | undefined;
  now?: (() => number) | undefined;
}

export class SemanticIndex implements AsyncDisposable {
  readonly #embedder: Embedder;
  readonly #options: SemanticIndexOptions;
  readonly #book = new ToolVectors();
  readonly #queries = new Map<string, Float32Array>();
  readonly #closing = new AbortController();
  #isPruned = false;
  #ignoresCache = false;
  #working: Promise<void> | undefined;
  #failure: { reason: string; at: number } | undefined;

  constructor({ cache, ...options }: SemanticIndexOptions) {
    this.#options = options.embedder.isInstant ? options : { ...options, cache };
    this.#embedder = options.embedder;
  }

  get progress(): EmbeddingProgress {
    const { done, total } = this.#book;
    const state = this.#failure ? "failed" : done < total ? "working" : "ready";
    return {
      backend: this.#embedder.id,
      state,
      done,
      total,
      ...(this.#failure ? { reason: this.#failure.reason } : {}),
    };
  }

  update(change: { added?: Iterable<SearchDocument>; removed?: Iterable<string> }): void {
    for (const key of change.removed ?? []) this.#book.remove(key);
    for (const document of change.added ?? []) this.#book.add(document);
    this.#book.tidy();
    this.resume();
  }

  /** Forgets all; what is added after this is computed again, whatever the cache has. */
  forget(): void {
    this.#book.clear();
    this.#queries.clear();
    this.#failure = undefined;
    this.#ignoresCache = true;
  }

  /** Whether the model has a word; undefined if it takes any language. */
  get knows(): ((word: string) => boolean) | undefined {
    return this.#embedder.knows?.bind(this.#embedder);
  }

  async compare(
    query: string,
    clauses: readonly string[] = [],
  ): Promise<VectorScores | { degraded: string }> {
    if (this.#isResting()) return { degraded: this.#failure!.reason };
    const text = queryText(query);
    if (text === "") return { degraded: "The query has no text to compare" };
    try {
      const vector = this.#queries.get(text) ?? await this.#embedQuery(text);
      if (vector.every((value) => value === 0)) {
        return { degraded: "The embeddings do not know any word of the query" };
      }
      // Of a model that takes its time, the whole query is enough.
      const parts = this.#embedder.isInstant && clauses.length > 1
        ? await this.#embedder.embed(clauses.map(queryText), this.#closing.signal)
        : [];
      this.#failure = undefined;
      this.resume();
      if (this.#book.done === 0) return { degraded: "The tools are still being indexed" };
      return this.#book.compare(vector, parts);
    } catch (error) {
      this.#fail(error);
      return { degraded: this.#failure!.reason };
    }
  }

  /** Ends when there is nothing left to compute, or computing has failed. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** Ends when every tool has its vector. Throws if some have none. */
  async complete(): Promise<void> {
    this.resume();
    await this.settled();
    const { done, total, reason = "the index was closed" } = this.progress;
    if (done < total) throw new Error(`Cannot index all tools (${done} of ${total}): ${reason}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    if (!this.#options.isShared) await this.#embedder[Symbol.asyncDispose]();
    await this.#working;
  }

  async #embedQuery(text: string): Promise<Float32Array> {
    const limit = AbortSignal.timeout(this.#options.queryLimitMs ?? QUERY_LIMIT_MS);
    const either = AbortSignal.any([limit, this.#closing.signal]);
    const [vector] = await this.#embedder.embed([text], either);
    if (!vector) throw new GatewayError("INTERNAL");
    if (this.#queries.size >= MOST_QUERIES_KEPT) {
      this.#queries.delete(this.#queries.keys().next().value!);
    }
    this.#queries.set(text, vector);
    return vector;
  }

  resume(): void {
    if (this.#working || this.#closing.signal.aborted || this.#isResting()) return;
    if (this.#book.done === this.#book.total) return;
    this.#working = this.#embedMissing().catch((error) => this.#fail(error))
      .finally(() => this.#working = undefined);
  }

  async #embedMissing(): Promise<void> {
    if (!this.#ignoresCache) await this.#takeCached();
    let unsaved = new Map<string, Int8Array<ArrayBuffer>>();
    const save = async () => {
      if (unsaved.size === 0) return;
      const vectors = unsaved;
      unsaved = new Map();
      await this.#options.cache?.save(this.#embedder.id, vectors);
    };
    try {
      while (!this.#closing.signal.aborted) {
        const batch = this.#book.missing(this.#embedder.batch);
        if (batch.size === 0) break;
        const limit = AbortSignal.any([AbortSignal.timeout(BATCH_LIMIT_MS), this.#closing.signal]);
        const vectors = await this.#embedder.embed([...batch.values()], limit);
        [...batch.keys()].forEach((hash, index) => {
          const vector = quantize(vectors[index]!);
          this.#book.put(hash, vector);
          unsaved.set(hash, vector);
        });
        if (unsaved.size >= SAVE_EVERY) await save();
        this.#report();
      }
    } finally {
      await save();
    }
    this.#failure = undefined;
    this.#ignoresCache = false;
    this.#report();
    if (this.#isPruned) return;
    this.#isPruned = true;
    await this.#options.cache?.prune(this.#embedder.id, this.#book.used(), MOST_UNUSED);
  }

  async #takeCached(): Promise<void> {
    const { cache } = this.#options;
    const missing = [...this.#book.missing(Infinity).keys()];
    for (let start = 0; cache && start < missing.length; start += READ_AT_ONCE) {
      if (this.#closing.signal.aborted) return;
      const hashes = missing.slice(start, start + READ_AT_ONCE);
      const found = await cache.find(this.#embedder.id, hashes);
      for (const [hash, vector] of found) this.#book.put(hash, vector);
      if (found.size > 0) this.#report();
    }
  }

  #isResting(): boolean {
    if (!this.#failure) return false;
    return this.#now() - this.#failure.at < (this.#options.restMs ?? REST_MS);
  }

  #fail(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#failure = { reason: reasonOf(error), at: this.#now() };
    this.#report();
  }

  #report(): void {
    this.#options.onProgress?.(this.progress);
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return "The embedding backend did not answer in time";
  }
  return error instanceof GatewayError ? error.message : "The embedding backend failed";
}
