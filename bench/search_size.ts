/** A process of its own, so that its memory is that of one index alone: prints one line of JSON. */
import { SemanticIndex } from "../lib/catalog/search/embedding/semantic_index.ts";
import { TableEmbedder } from "../lib/catalog/search/embedding/table_embedder.ts";
import { ToolSearch } from "../lib/catalog/search/tool_search.ts";
import { loadDataSets, manyDocuments } from "./search_data.ts";
import { measure } from "./search_measures.ts";

const WARM_UP = 30;

if (import.meta.main) {
  const size = Number(Deno.args[0]);
  const sets = await loadDataSets();
  const largest = sets.toSorted((one, other) => other.documents.length - one.documents.length)[0]!;
  const added = manyDocuments(largest.documents, size);
  const before = rss();
  const started = performance.now();
  await using search = new ToolSearch(
    Deno.args[1] === "words"
      ? {}
      : { semantic: new SemanticIndex({ embedder: await TableEmbedder.open() }) },
  );
  search.update({ added });
  await search.semantic?.settled();
  const build = performance.now() - started;
  // As it is right after a cold start.
  const { mode: firstMode } = await search.search({ query: largest.queries[0]!.query });
  const find = async (query: string) => (await search.search({ query })).hits.map(({ key }) => key);
  for (const { query } of largest.queries.slice(0, WARM_UP)) await find(query);
  const { p50, p95 } = await measure(largest.queries, find);
  // deno-lint-ignore no-console
  console.log(JSON.stringify({ build, firstMode, p50, p95, before, rss: rss() }));
}

function rss(): number {
  return Deno.memoryUsage().rss / 1024 / 1024;
}
