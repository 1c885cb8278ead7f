import type { Catalog, ServerTools } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { SearchRequest } from "./search_index.ts";
import { type SearchDocument, type ToolAbout, toSearchDocument } from "./search_document.ts";
import type { SearchResult, ToolSearch } from "./tool_search.ts";

/** So many tools are indexed before others have their turn. */
const TURN = 100;

export interface CatalogSearchOptions {
  catalog: Catalog;
  search: ToolSearch;
  about(tool: CatalogTool): ToolAbout;
}

/** Search over the catalog as it is now: only what has changed since the last search is indexed. */
export class CatalogSearch implements AsyncDisposable {
  readonly #options: CatalogSearchOptions;
  #indexed = new Map<string, { tools: ServerTools; keys: Set<string> }>();
  #isStale = true;
  #syncing: Promise<void> = Promise.resolve();
  readonly #unsubscribe: () => void;

  constructor(options: CatalogSearchOptions) {
    this.#options = options;
    this.#unsubscribe = options.catalog.onChange(() => this.#isStale = true);
  }

  get search(): ToolSearch {
    return this.#options.search;
  }

  /** What is said of tools has changed: all of them are looked at again. */
  refresh(): void {
    this.#isStale = true;
    for (const entry of this.#indexed.values()) entry.tools = NONE;
  }

  /** Indexes everything from nothing, and has every vector computed again. */
  async reindex(): Promise<void> {
    const { search } = this.#options;
    await this.#syncing.catch(() => {});
    for (const { keys } of this.#indexed.values()) search.update({ removed: keys });
    this.#indexed.clear();
    search.semantic?.forget();
    this.#isStale = true;
    await this.sync();
  }

  async find(request: SearchRequest, signal?: AbortSignal): Promise<SearchResult> {
    await this.sync();
    return await this.#options.search.search(request, signal);
  }

  /** Brings the index up to the catalog. */
  sync(): Promise<void> {
    if (!this.#isStale) return this.#syncing;
    this.#isStale = false;
    // One that failed is no reason for the next one to fail.
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
      this.#options.search.update({ added: documents.slice(start, start + TURN) });
      if (start + TURN < documents.length) await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }
}

const NONE: ServerTools = { tools: [], broken: [] };
