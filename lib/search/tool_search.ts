import type { SemanticIndex } from "./embedding/semantic_index.ts";
import {
  type IndexChange,
  type Meaning,
  type SearchHit,
  SearchIndex,
  type SearchRequest,
} from "./search_index.ts";

/** Before nearly all vectors are there, tools that have theirs would push aside those that have not. */
const ENOUGH = 0.9;

export interface SearchResult {
  hits: SearchHit[];
  mode: "lexical" | "hybrid";
  /** Why meaning had no say although a backend is configured. */
  degraded?: string;
}

export interface ToolSearchOptions {
  index?: SearchIndex | undefined;
  /** Undefined: by words alone. */
  semantic?: SemanticIndex | undefined;
  /** The share of meaning in a score, 0 to 1; 0.7 unless told. */
  hybridSearchRatio?: number | undefined;
}

/** Search as callers use it: by words, and by meaning where a backend is there. */
export class ToolSearch implements AsyncDisposable {
  readonly index: SearchIndex;
  readonly semantic: SemanticIndex | undefined;
  readonly #ratio: number | undefined;

  constructor({ index, semantic, hybridSearchRatio }: ToolSearchOptions = {}) {
    this.index = index ?? new SearchIndex();
    this.semantic = hybridSearchRatio === 0 ? undefined : semantic;
    this.#ratio = hybridSearchRatio;
  }

  update(change: IndexChange): void {
    const added = [...change.added ?? []];
    const removed = [...change.removed ?? []];
    this.index.update({ added, removed });
    this.semantic?.update({ added, removed });
  }

  async search(request: SearchRequest, signal?: AbortSignal): Promise<SearchResult> {
    const meaning = await this.#meaningOf(request.query, signal);
    if (meaning === undefined) return { hits: this.index.search(request), mode: "lexical" };
    if (typeof meaning === "string") {
      return { hits: this.index.search(request), mode: "lexical", degraded: meaning };
    }
    return { hits: this.index.search(request, meaning), mode: "hybrid" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.semantic?.[Symbol.asyncDispose]();
  }

  async #meaningOf(
    query: string,
    signal: AbortSignal | undefined,
  ): Promise<Meaning | string | undefined> {
    if (!this.semantic || this.index.size === 0 || isOnlyCommands(query)) return undefined;
    const { done, total } = this.semantic.progress;
    if (done < total * ENOUGH) {
      this.semantic.resume();
      const { reason } = this.semantic.progress;
      return reason ?? `The tools' embeddings are still computed (${done} of ${total})`;
    }
    const scores = await this.semantic.compare(query, signal);
    return "degraded" in scores ? scores.degraded : { scores, ratio: this.#ratio };
  }
}

/** To a language model, `ls` or `rm` alone mean nothing. */
function isOnlyCommands(query: string): boolean {
  return /^\s*[a-z]{1,3}(?:\s+[a-z]{1,3})?\s*$/i.test(query);
}
