import { CanonicalToolsRepository } from "../../storage/canonical_tools_repository.ts";
import type { Admits } from "../../routing/resolve.ts";
import type { Store } from "../../storage/store.ts";
import { ToolsetsRepository } from "../../storage/toolsets_repository.ts";
import { catalogOf } from "../../toolsets/testing.ts";
import { Toolsets } from "../../toolsets/toolsets.ts";
import { ToolTokens } from "../../catalog/tool_tokens.ts";
import { ToolMetadataRepository } from "../../storage/tool_metadata_repository.ts";
import { ToolsetsAdmin } from "../toolsets_admin.ts";

/** Toolsets over a catalog of these tools; a token is four characters. */
export function openToolsets(
  store: Store,
  servers: Record<string, readonly string[]>,
  admits: Admits = () => true,
) {
  const { catalog, names } = catalogOf(servers);
  const away = new Set<string>();
  const canonical = new CanonicalToolsRepository(store);
  const toolsets = new Toolsets({
    repository: new ToolsetsRepository(store),
    catalog,
    names,
    availability: (server) => away.has(server) ? "away" : "available",
    onNews: () => {},
  });
  const admin = new ToolsetsAdmin({
    admits,
    toolsets,
    catalog,
    names,
    canonical,
    tokens: new ToolTokens(
      new ToolMetadataRepository(store),
      catalog,
      (texts) => Promise.resolve(texts.map(({ length }) => Math.ceil(length / 4))),
    ),
  });
  return { catalog, away, canonical, toolsets, admin };
}
