/** How well tables find tools in the product's own search: `deno run -A evaluate.ts TABLE...`. */
import { SemanticIndex } from "../../lib/catalog/search/embedding/semantic_index.ts";
import { TableEmbedder } from "../../lib/catalog/search/embedding/table_embedder.ts";
import { ToolSearch } from "../../lib/catalog/search/tool_search.ts";
import { printTable } from "../report.ts";
import { type DataSet, loadDataSets } from "../search_data.ts";
import { measure } from "../search_measures.ts";

const EVERYDAY = new URL("./everyday.tsv", import.meta.url);

async function openSearch(table: string, { documents }: DataSet): Promise<ToolSearch> {
  const search = new ToolSearch(
    table === "words"
      ? {}
      : { semantic: new SemanticIndex({ embedder: await TableEmbedder.open(table) }) },
  );
  search.update({ added: documents });
  await search.semantic?.settled();
  return search;
}

/** How many everyday queries have a right tool among the first five. */
async function everyday(search: ToolSearch): Promise<string> {
  const lines = (await Deno.readTextFile(EVERYDAY)).trim().split("\n");
  let right = 0;
  for (const line of lines) {
    const [query = "", tools = ""] = line.split("\t");
    const { hits } = await search.search({ query, limit: 5 });
    const names = new Set(tools.split(" "));
    if (hits.some(({ key }) => names.has(key.slice(key.lastIndexOf(".") + 1)))) right++;
  }
  return `${right}/${lines.length}`;
}

const sets = await loadDataSets();
const rows = [["recall@5 / MRR", ...sets.map(({ name }) => name), "everyday, in five"]];
for (const table of ["words", ...Deno.args]) {
  const row = [table.split("/").at(-1)!];
  let asked = "";
  for (const set of sets) {
    await using search = await openSearch(table, set);
    const { recall5, mrr } = await measure(
      set.queries,
      async (query) => (await search.search({ query })).hits.map(({ key }) => key),
    );
    row.push(`${recall5.toFixed(1)} / ${mrr.toFixed(1)}`);
    if (set.name === "many") asked = await everyday(search);
  }
  rows.push([...row, asked]);
}
printTable("tables of embeddings", rows);
