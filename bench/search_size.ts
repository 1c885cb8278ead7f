/** A process of its own, so that its memory is that of one index alone: prints one line of JSON. */
import { SearchIndex } from "../lib/catalog/search/search_index.ts";
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
  const index = new SearchIndex();
  index.update({ added });
  const build = performance.now() - started;
  for (const { query } of largest.queries.slice(0, WARM_UP)) index.search({ query });
  const { p50, p95 } = await measure(
    largest.queries,
    (query) => index.search({ query }).map(({ key }) => key),
  );
  // deno-lint-ignore no-console
  console.log(JSON.stringify({ build, p50, p95, before, rss: rss() }));
}

function rss(): number {
  return Deno.memoryUsage().rss / 1024 / 1024;
}
