import { Catalog } from "./catalog.ts";
import { canonicalText, type CatalogTool } from "./catalog_tool.ts";

/** Follows a catalog with the same tools by their servers' own descriptions, until disposed. */
export function canonicalCatalog(shown: Catalog): Disposable & { catalog: Catalog } {
  const catalog = new Catalog();
  const copy = (server: string) => {
    if (!shown.snapshot.servers.has(server)) return catalog.remove(server);
    copyTools(shown.of(server).tools, catalog, server, canonicalText);
  };
  for (const server of shown.snapshot.servers.keys()) copy(server);
  const stop = shown.onChange(copy);
  return { catalog, [Symbol.dispose]: stop };
}

/** Lists a server's tools in another catalog, with other texts. */
export function copyTools(
  tools: readonly CatalogTool[],
  catalog: Catalog,
  server: string,
  textOf: (tool: CatalogTool) => string,
): void {
  // First, so that a disabled tool is never listed.
  catalog.setEnabled(server, tools.filter(({ enabled }) => enabled).map(({ name }) => name));
  const listedTo = tools.flatMap(({ name, listedTo }) => listedTo ? [[name, listedTo]] : []);
  catalog.setListed(
    server,
    tools.map(textOf),
    new Map(listedTo as [string, readonly string[]][]),
  );
}
