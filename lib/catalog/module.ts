import type { Options } from "../config/option_table.ts";
import type { Bus } from "../core/bus.ts";
import { TokenCounter } from "../core/token_counter.ts";
import { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import {
  EnabledToolsRepository,
  ToolMetadataRepository,
  type ToolOverride,
} from "../storage/catalog_repositories.ts";
import type { Store } from "../storage/store.ts";
import { Catalog } from "./catalog.ts";
import { NameTables } from "./name_table.ts";
import { ToolMetadataBook } from "./tool_metadata.ts";
import { ToolTokens } from "./tool_tokens.ts";

export type CatalogModule = ReturnType<typeof buildCatalog>;

export interface CatalogInput {
  store: Store;
  options: Pick<Options, "clientFamilies" | "maxNameLength" | "toolCategories">;
  bus: Bus;
  reservedNames: ReadonlySet<string>;
}

export function buildCatalog(input: CatalogInput) {
  const { store, options, bus, reservedNames } = input;
  const catalog = new Catalog({}, options.clientFamilies);
  bus.on("serverRemoved", (name) => catalog.remove(name));
  const counter = new TokenCounter();
  const toolMetadata = new ToolMetadataRepository(store);
  const metadata = new ToolMetadataBook(options.toolCategories, {
    servers: () => Array.from(catalog.snapshot.servers.values(), ({ tools }) => tools),
    async openVectors() {
      const { TableEmbedder } = await import("./search/embedding/table_embedder.ts");
      return await TableEmbedder.open();
    },
    onChange: () => bus.emit("toolMetadataChanged"),
  });
  const enabled = new EnabledToolsRepository(store);
  return {
    catalog,
    names: new NameTables(reservedNames, options.maxNameLength),
    tokens: new ToolTokens(toolMetadata, catalog, (texts) => counter.count(texts)),
    metadata,
    toolMetadata,
    canonical: new CanonicalToolsRepository(store),
    enabled,
    async loadSelections() {
      const selections = await Array.fromAsync(enabled.list());
      catalog.setSelections(new Map(selections.map(({ value }) => [value.server, value.tools])));
    },
    async loadMetadata() {
      const isChanged = metadata.setOverrides(await toolMetadata.overrides());
      if (isChanged) bus.emit("toolMetadataChanged");
    },
    async saveOverride(override: ToolOverride, versionstamp?: string | null) {
      const before = (await toolMetadata.find(override.server, override.tool))?.value;
      await toolMetadata.save(override, versionstamp);
      return before;
    },
    [Symbol.dispose]: () => counter[Symbol.dispose](),
  };
}
