import type { Catalog } from "./catalog/catalog.ts";
import type { CatalogTool } from "./catalog/catalog_tool.ts";
import type { ToolMetadataBook } from "./catalog/tool_metadata.ts";
import type { Platform } from "./config/deployment.ts";
import type { Options } from "./config/option_table.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import type { NameTables } from "./routing/name_table.ts";
import type { CatalogSearch } from "./search/catalog_search.ts";
import type { EmbeddingProgress } from "./search/embedding/semantic_index.ts";
import type { Store } from "./storage/store.ts";
import type { FoundTools, ToolQuery } from "./surfaces/tool_guide.ts";

export interface ComposeSearchInput {
  stack: AsyncDisposableStack;
  store: Store;
  catalog: Catalog;
  pool: ServerPool;
  names: NameTables;
  metadata: ToolMetadataBook;
  options: Options;
  platform: Platform;
  onProgress(progress: EmbeddingProgress): void;
  onWarning(message: string, details?: object): void;
}

/** So many tools are worth preparing a search for before anybody has asked. */
const MANY_TOOLS = 20;
/** After the last change of the catalog: servers come in one after the other. */
const SETTLE_MS = 500;
/** The first searches may wait this long in all for the first vectors, which make them better. */
const FIRST_VECTORS_MS = 10_000;

/** The search over all tools. It is loaded, and its index made, when somebody first needs it. */
export function composeSearch(input: ComposeSearchInput) {
  const { stack, catalog, names, onWarning } = input;
  /** Why a backend that was asked for is not used. */
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
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, left);
    await Promise.race([semantic.settled(), limit.promise]);
    clearTimeout(timer);
  }

  let settling: ReturnType<typeof setTimeout> | undefined;
  function prepareLater(): void {
    clearTimeout(settling);
    settling = setTimeout(() => {
      let count = 0;
      for (const { tools } of catalog.snapshot.servers.values()) count += tools.length;
      if (count >= MANY_TOOLS || opening) warmUp();
    }, SETTLE_MS);
  }
  const unsubscribe = catalog.onChange(prepareLater);
  stack.defer(() => {
    unsubscribe();
    clearTimeout(settling);
  });

  function warmUp(): void {
    open().then((search) => search.sync())
      .catch((error) => onWarning("Cannot prepare the search", { error }));
  }

  const byKey = (key: string): CatalogTool | undefined => {
    const dot = key.indexOf(".");
    return names.of(catalog.snapshot).find(key.slice(0, dot), key.slice(dot + 1));
  };

  return {
    async search(query: ToolQuery, admits: (tool: CatalogTool) => boolean): Promise<FoundTools> {
      const search = await open();
      await search.sync();
      await firstVectors(search);
      const tools = new Map<string, CatalogTool>();
      const { hits, degraded = unused } = await search.find({
        query: query.text,
        context: query.context,
        limit: query.limit,
        explain: true,
        admits(key) {
          const tool = byKey(key);
          if (!tool || !admits(tool)) return false;
          tools.set(key, tool);
          return true;
        },
      });
      const { explanationText } = await import("./search/explanation_text.ts");
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

    /** Makes the index in the background, for whoever is about to search. */
    warmUp,

    /** What is said of tools has changed. */
    refresh(): void {
      void opening?.then((search) => search.refresh()).catch(() => {});
    },

    /** Indexes everything from nothing; the vectors follow in the background. */
    async reindex(): Promise<{ tools: number }> {
      const search = await open();
      await search.reindex();
      return { tools: search.search.index.size };
    },

    /** Why meaning has no say although that was asked for. */
    unused: (): string | undefined => unused,

    /** How far the vectors are; undefined where there are none to make. */
    async progress(): Promise<EmbeddingProgress | undefined> {
      return (await opening)?.search.semantic?.progress;
    },
  };
}

async function load(
  input: ComposeSearchInput,
  onUnused: (reason: string) => void,
): Promise<CatalogSearch> {
  const { catalog, pool, metadata, options } = input;
  const [{ CatalogSearch }, { ToolSearch }, { SearchIndex }] = await Promise.all([
    import("./search/catalog_search.ts"),
    import("./search/tool_search.ts"),
    import("./search/search_index.ts"),
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
      return {
        category: metadata.of(tool).category,
        serverTitle: typeof title === "string" ? title : undefined,
        serverDescription: typeof info?.instructions === "string" ? info.instructions : undefined,
      };
    },
  });
}

async function loadSemantic({ store, options, platform, onProgress }: ComposeSearchInput) {
  if (options.embeddings === "none" || options.hybridSearchRatio === 0) return undefined;
  // No program can be started there, and nobody has asked for this one.
  if (options.embeddings === "local" && !platform.canSpawn) return undefined;
  const [{ createEmbedder }, { SemanticIndex }, { VectorsRepository }] = await Promise.all([
    import("./search/embedding/create_embedder.ts"),
    import("./search/embedding/semantic_index.ts"),
    import("./storage/vectors_repository.ts"),
  ]);
  const embedder = await createEmbedder({
    backend: options.embeddings,
    url: options.embeddingsUrl,
    model: options.embeddingsModel,
    apiKey: options.embeddingsKey,
  });
  if (!embedder) return undefined;
  return new SemanticIndex({ embedder, cache: new VectorsRepository(store), onProgress });
}
