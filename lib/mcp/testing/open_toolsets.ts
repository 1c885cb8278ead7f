import { CanonicalToolsRepository } from "../../storage/canonical_tools_repository.ts";
import type { Admits } from "../../catalog/resolve.ts";
import type { Store } from "../../storage/store.ts";
import { ToolMetadataRepository, ToolsetsRepository } from "../../storage/catalog_repositories.ts";
import { catalogOf } from "../../catalog/toolsets/testing/toolsets.ts";
import { Toolsets } from "../../catalog/toolsets/toolsets.ts";
import { ToolTokens } from "../../catalog/tool_tokens.ts";
import type { ServerStatus } from "../../core/server.ts";
import { StartingServers } from "../starting_servers.ts";
import { ToolsetsAdmin } from "../../operations/toolsets_admin.ts";

/** Toolsets over a catalog of these tools; a token is four characters. */
export function openToolsets(
  store: Store,
  servers: Record<string, readonly string[]>,
  admits: Admits = () => true,
) {
  const { catalog, names } = catalogOf(servers);
  const away = new Set<string>();
  const coming: ServerStatus[] = [];
  const canonical = new CanonicalToolsRepository(store);
  const toolsets = new Toolsets({
    repository: new ToolsetsRepository(store),
    catalog,
    names,
    availability: (server) =>
      coming.some(({ name }) => name === server)
        ? "coming"
        : away.has(server)
        ? "away"
        : "available",
    onNews: () => {},
  });
  const admin = new ToolsetsAdmin({
    admits,
    starting: new StartingServers({
      catalog,
      pool: { list: () => coming, find: () => undefined },
      admits: () => true,
    }),
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
  return { catalog, away, coming, canonical, toolsets, admin };
}
