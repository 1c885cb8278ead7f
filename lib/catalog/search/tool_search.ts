import type { SemanticIndex } from "./embedding/semantic_index.ts";
import {
  type IndexChange,
  type Meaning,
  type SearchHit,
  SearchIndex,
  type SearchRequest,
} from "./search_index.ts";
import type { SearchQuery } from "./search_query.ts";
import type { Catalog, ServerTools } from "../catalog.ts";
import type { CatalogTool } from "../catalog_tool.ts";
import { type SearchDocument, type ToolAbout, toSearchDocument } from "./search_document.ts";

/** Before nearly all vectors are there, tools that have theirs would push aside those that have not. */
const ENOUGH = 0.9;

interface SearchResult {
  hits: SearchHit[];
  mode: "lexical" | "hybrid";
  degraded?: string;
}

export class ToolSearch implements AsyncDisposable {
  readonly index: SearchIndex;
  readonly semantic: SemanticIndex | undefined;
  readonly #ratio: number | undefined;

  constructor({ index, semantic, hybridSearchRatio }: {
    index?: SearchIndex;
    semantic?: SemanticIndex | undefined;
    hybridSearchRatio?: number;
  } = {}) {
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

  async search(request: SearchRequest): Promise<SearchResult> {
    const query = this.index.read(request);
    const meaning = await this.#meaningOf(query);
    if (typeof meaning === "object") {
      return { hits: this.index.search(request, meaning, query), mode: "hybrid" };
    }
    return {
      hits: this.index.search(request, undefined, query),
      mode: "lexical",
      ...(meaning === undefined ? {} : { degraded: meaning }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.semantic?.[Symbol.asyncDispose]();
  }

  async #meaningOf(query: SearchQuery): Promise<Meaning | string | undefined> {
    if (!this.semantic || this.index.size === 0) return undefined;
    const { knows } = this.semantic;
    if (knows && !isUnderstood(query, knows)) return NOT_ENGLISH;
    const { done, total } = this.semantic.progress;
    if (done < total * ENOUGH) {
      this.semantic.resume();
      const { reason } = this.semantic.progress;
      return reason ?? `The tools are still being indexed (${done} of ${total})`;
    }
    const scores = await this.semantic.compare(query.text, query.clauseTexts);
    return "degraded" in scores ? scores.degraded : {
      scores,
      isTable: knows !== undefined,
      ratio: this.#ratio,
    };
  }
}

const NOT_ENGLISH =
  "The query does not look like English, and the built-in embeddings know only English: only words that it shares with tools count. Search in English, or set a multilingual embedding model.";

/** What a model of one language makes of another is arbitrary. */
function isUnderstood({ isForeign, whole }: SearchQuery, knows: (word: string) => boolean) {
  if (isForeign) return false;
  const known = whole.words.filter(({ stem, matches }) => matches.length > 0 || knows(stem));
  return known.length * 2 >= whole.words.length;
}

/** So many are indexed before the clock is looked at. */
const TURN = 20;
/** How long the index may take the thread: of thousands of tools, it takes seconds in all. */
const SLICE_MS = 10;

interface CatalogSearchOptions {
  catalog: Catalog;
  search: ToolSearch;
  about(tool: CatalogTool): ToolAbout;
}

/** Search over the catalog as it is now: only what has changed since the last search is indexed. */
export class CatalogSearch implements AsyncDisposable {
  readonly #options: CatalogSearchOptions;
  #indexed = new Map<string, { tools: ServerTools; keys: Set<string> }>();
  #isStale = true;
  /** When the index took the thread. */
  #begun = 0;
  #syncing: Promise<void> = Promise.resolve();
  readonly #unsubscribe: () => void;

  constructor(options: CatalogSearchOptions) {
    this.#options = options;
    this.#unsubscribe = options.catalog.onChange(() => this.#isStale = true);
  }

  get search(): ToolSearch {
    return this.#options.search;
  }

  refresh(): void {
    this.#isStale = true;
    for (const entry of this.#indexed.values()) entry.tools = NONE;
  }

  async reindex(): Promise<void> {
    const { search } = this.#options;
    await this.#syncing.catch(() => {});
    for (const { keys } of this.#indexed.values()) search.update({ removed: keys });
    this.#indexed.clear();
    search.semantic?.forget();
    this.#isStale = true;
    await this.sync();
  }

  async find(request: SearchRequest): Promise<SearchResult> {
    await this.sync();
    return await this.#options.search.search(request);
  }

  sync(): Promise<void> {
    if (!this.#isStale) return this.#syncing;
    this.#isStale = false;
    // A failed sync must not fail the next one.
    const synced = this.#syncing.catch(() => {}).then(() => this.#sync());
    synced.catch(() => this.#isStale = true);
    return this.#syncing = synced;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    await this.#syncing.catch(() => {});
    await this.#options.search[Symbol.asyncDispose]();
  }

  async #sync(): Promise<void> {
    const { catalog, search, about } = this.#options;
    const { servers } = catalog.snapshot;
    this.#begun = performance.now();
    for (const [server, { keys }] of this.#indexed) {
      if (servers.has(server)) continue;
      search.update({ removed: keys });
      this.#indexed.delete(server);
    }
    for (const [server, tools] of servers) {
      const known = this.#indexed.get(server);
      if (known?.tools === tools) continue;
      const documents = tools.tools.filter(({ enabled }) => enabled)
        .map((tool) => toSearchDocument(tool, about(tool)));
      const keys = new Set(documents.map(({ key }) => key));
      search.update({ removed: [...known?.keys ?? []].filter((key) => !keys.has(key)) });
      await this.#add(documents);
      this.#indexed.set(server, { tools, keys });
    }
  }

  async #add(documents: SearchDocument[]): Promise<void> {
    for (let start = 0; start < documents.length; start += TURN) {
      if (performance.now() - this.#begun > SLICE_MS) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        this.#begun = performance.now();
      }
      this.#options.search.update({ added: documents.slice(start, start + TURN) });
    }
  }
}

const NONE: ServerTools = { tools: [], broken: [] };
