import { Catalog } from "./catalog.ts";
import { canonicalText } from "./catalog_tool.ts";

/** Follows a catalog with the same tools by their servers' own descriptions, until disposed. */
export function canonicalCatalog(shown: Catalog): Disposable & { catalog: Catalog } {
  const catalog = new Catalog();
  const copy = (server: string) => {
    if (!shown.snapshot.servers.has(server)) return catalog.remove(server);
    const { tools } = shown.of(server);
    // First, so that a disabled tool is never listed.
    catalog.setEnabled(server, tools.filter(({ enabled }) => enabled).map(({ name }) => name));
    const listedTo = tools.flatMap(({ name, listedTo }) => listedTo ? [[name, listedTo]] : []);
    catalog.setListed(
      server,
      tools.map(canonicalText),
      new Map(listedTo as [string, readonly string[]][]),
    );
  };
  for (const server of shown.snapshot.servers.keys()) copy(server);
  const stop = shown.onChange(copy);
  return { catalog, [Symbol.dispose]: stop };
}
