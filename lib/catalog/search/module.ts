import type { Catalog } from "../catalog.ts";
import type { CatalogTool } from "../catalog_tool.ts";
import type { ToolMetadataBook } from "../tool_metadata.ts";
import type { Options } from "../../config/option_table.ts";
import { settledWithin } from "../../core/async.ts";
import type { Bus } from "../../core/bus.ts";
import type { ServerPool } from "../../servers/pool.ts";
import type { NameTables } from "../name_table.ts";
import type { SearchPick } from "../../core/tool.ts";
import type { Embedder } from "./embedding/embedder.ts";
import type { CatalogSearch } from "./tool_search.ts";
import type { Store } from "../../storage/store.ts";

export interface ToolQuery {
  text: string;
  /** What it is wanted for; changes the order, not what is found. */
  context?: string | undefined;
  category?: string | undefined;
  server?: string | undefined;
  /** The servers that the caller may see; all if missing. */
  servers?: readonly string[] | undefined;
  /** What the caller called after its earlier searches. */
  picks?: readonly SearchPick[] | undefined;
  limit: number;
}

export interface FoundTool {
  tool: CatalogTool;
  relevance: number;
  explanation: string;
  scores?: Partial<Record<string, number>>;
}

export interface FoundTools {
  found: FoundTool[];
  degraded?: string;
}

export interface SearchInput {
  store: Store;
  catalog: Catalog;
  bus: Bus;
  live: { events: { publish(type: string, data: unknown): void } };
  pool: ServerPool;
  names: NameTables;
  metadata: ToolMetadataBook;
  options: Options;
  /** Built for one command: the index is made by the first search, not before. */
  isCommand?: boolean;
  /** One that other searches use, too. */
  sharedEmbedder?(): Promise<Embedder | undefined>;
  onWarning(message: string, details?: object): void;
}

export type ToolSearchModule = ReturnType<typeof buildSearch>;

/** From so many tools on, the search is prepared before the first query. */
const MANY_TOOLS = 20;
/** After the last change of the catalog: servers connect one after the other. */
const SETTLE_MS = 500;
/** Servers that are starting come first, unless they take longer. */
const STARTING_MS = 10_000;
/** The first searches may wait this long in all for the first vectors, which make them better. */
const FIRST_VECTORS_MS = 10_000;

/** Searches over several catalogs. They share an embedder, which is closed after all of them. */
export function buildSearches(input: Omit<SearchInput, "catalog">) {
  let opening: Promise<Embedder | undefined> | undefined;
  const sharedEmbedder = () => opening ??= openEmbedder(input);
  return {
    open: (catalog: Catalog) => buildSearch({ ...input, catalog, sharedEmbedder }),
    async [Symbol.asyncDispose]() {
      await (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

export function buildSearch(input: SearchInput) {
  const { catalog, names, onWarning } = input;
  const stack = new AsyncDisposableStack();
  let unused: string | undefined;
  let opening: Promise<CatalogSearch> | undefined;
  const open = () =>
    opening ??= load(input, (reason) => {
      unused = reason;
      onWarning(reason);
    });
  stack.defer(async () => await (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]());

  let firstVectorsBy: number | undefined;
  /** Waits for the vectors while they are new; later ones are not waited for. */
  async function firstVectors({ search: { semantic } }: CatalogSearch): Promise<void> {
    firstVectorsBy ??= Date.now() + FIRST_VECTORS_MS;
    const left = firstVectorsBy - Date.now();
    if (left <= 0 || semantic?.progress.state !== "working") return;
    await settledWithin(semantic.settled(), left);
  }

  const started = performance.now();
  let settling: ReturnType<typeof setTimeout> | undefined;
  function prepareLater(): void {
    clearTimeout(settling);
    settling = setTimeout(() => {
      if (input.pool.isStarting && performance.now() - started < STARTING_MS) return prepareLater();
      let count = 0;
      for (const { tools } of catalog.snapshot.servers.values()) count += tools.length;
      if (count >= MANY_TOOLS || opening) warmUp();
    }, SETTLE_MS);
  }
  const refresh = () => {
    void opening?.then((search) => search.refresh()).catch(() => {});
  };
  input.bus.on("toolMetadataChanged", refresh);
  stack.defer(() => void input.bus.off("toolMetadataChanged", refresh));
  if (!input.isCommand) stack.defer(catalog.onChange(prepareLater));
  stack.defer(() => clearTimeout(settling));

  function warmUp(): void {
    open().then((search) => search.sync())
      .catch((error) => onWarning("Cannot build the search index", { error }));
  }

  const byKey = (key: string): CatalogTool | undefined => {
    const dot = key.indexOf(".");
    return names.of(catalog.snapshot).find(key.slice(0, dot), key.slice(dot + 1));
  };

  return {
    async search(
      query: ToolQuery,
      admits: (tool: CatalogTool) => boolean,
    ): Promise<FoundTools> {
      const search = await open();
      await search.sync();
      await firstVectors(search);
      const tools = new Map<string, CatalogTool>();
      const { hits, degraded = unused } = await search.find({
        query: query.text,
        context: query.context,
        servers: query.server === undefined ? query.servers : [query.server],
        category: query.category,
        picks: query.picks,
        limit: query.limit,
        explain: true,
        admits(key) {
          const tool = byKey(key);
          if (!tool || !admits(tool)) return false;
          tools.set(key, tool);
          return true;
        },
      });
      const { explanationText } = await import("./ranking.ts");
      return {
        found: hits.flatMap(({ key, relevance, explanation }) => {
          const tool = tools.get(key);
          if (!tool) return [];
          return {
            tool,
            relevance: Math.round(relevance * 1000) / 1000,
            explanation: explanation ? explanationText(explanation, query.text) : "",
            ...(explanation ? { scores: explanation.fields } : {}),
          };
        }),
        ...(degraded === undefined ? {} : { degraded }),
      };
    },

    warmUp,

    /** Ends when searches compare every tool by meaning, if they are to. Throws if they cannot. */
    async ready() {
      const search = await open();
      await search.sync();
      await search.search.semantic?.complete();
    },

    /** Builds the index from scratch; the vectors follow in the background. */
    async reindexSearch() {
      const search = await open();
      await search.reindex();
      return { tools: search.search.index.size };
    },

    searchTrouble: () => unused,

    async searchProgress() {
      return (await opening)?.search.semantic?.progress;
    },

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function load(
  input: SearchInput,
  onUnused: (reason: string) => void,
): Promise<CatalogSearch> {
  const { catalog, pool, metadata, options } = input;
  const [{ CatalogSearch, ToolSearch }, { SearchIndex }] = await Promise.all([
    import("./tool_search.ts"),
    import("./search_index.ts"),
  ]);
  const search = new ToolSearch({
    index: new SearchIndex({ synonyms: options.synonyms }),
    // Words are enough to go on with.
    semantic: await loadSemantic(input).catch((error: Error) => {
      onUnused(error.message);
      return undefined;
    }),
    hybridSearchRatio: options.hybridSearchRatio,
  });
  return new CatalogSearch({
    catalog,
    search,
    about(tool) {
      const info = pool.find(tool.server)?.info;
      const title = info?.serverInfo.title;
      const { category, categories, deprecated } = metadata.of(tool);
      return {
        category,
        categories,
        deprecated,
        serverTitle: typeof title === "string" ? title : undefined,
        serverDescription: typeof info?.instructions === "string" ? info.instructions : undefined,
      };
    },
  });
}

async function openEmbedder({ options }: Pick<SearchInput, "options">) {
  const { createEmbedder } = await import("./embedding/embedder.ts");
  return await createEmbedder(options);
}

async function loadSemantic({ store, options, live, sharedEmbedder }: SearchInput) {
  if (options.embeddings === "none" || options.hybridSearchRatio === 0) return undefined;
  const [embedder, { SemanticIndex }, { VectorsRepository }] = await Promise.all([
    sharedEmbedder?.() ?? openEmbedder({ options }),
    import("./embedding/semantic_index.ts"),
    import("../../storage/catalog_repositories.ts"),
  ]);
  if (!embedder) return undefined;
  const cache = new VectorsRepository(store);
  // The model of earlier versions. What is left of its vectors if this fails does no harm.
  cache.prune("local:use-lite-en-0.2.0", new Set(), 0).catch(() => {});
  return new SemanticIndex({
    embedder,
    isShared: sharedEmbedder !== undefined,
    cache,
    onProgress: (progress) => live.events.publish("embeddings", progress),
  });
}
