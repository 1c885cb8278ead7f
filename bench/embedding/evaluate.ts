/**
 * How well tables find tools in the product's own search:
 * `deno run -A evaluate.ts TABLE[:SET,SET[#FOLD]]...`. `words` stands for no table. Only the named sets, or
 * the half of their queries that `train.py --fold` left out, are measured.
 */
import { createHash } from "node:crypto";
import { POOR_RELEVANCE } from "../../lib/core/tool.ts";
import { SemanticIndex } from "../../lib/catalog/search/embedding/semantic_index.ts";
import { TableEmbedder } from "../../lib/catalog/search/embedding/table_embedder.ts";
import { ToolSearch } from "../../lib/catalog/search/tool_search.ts";
import { printTable } from "../report.ts";
import { type DataSet, loadDataSets } from "../search_data.ts";
import { measure } from "../search_measures.ts";

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

async function linesOf(name: string): Promise<string[]> {
  return (await Deno.readTextFile(new URL(`${name}.tsv`, import.meta.url))).trim().split("\n");
}

const share = (count: number, all: number) => `${count}/${all}`;

/** How many queries of a list have a right tool among the first five. */
async function inFive(search: ToolSearch, list: string): Promise<string> {
  const lines = await linesOf(list);
  let right = 0;
  for (const line of lines) {
    const [query = "", tools = ""] = line.split("\t");
    const { hits } = await search.search({ query, limit: 5 });
    const names = new Set(tools.split(" "));
    if (hits.some(({ key }) => names.has(key.slice(key.lastIndexOf(".") + 1)))) right++;
  }
  return share(right, lines.length);
}

/** How many queries of a list are said to have an answer. */
async function fitting(search: ToolSearch, list: string): Promise<[number, number]> {
  const lines = await linesOf(list);
  let fits = 0;
  for (const line of lines) {
    const { hits } = await search.search({ query: line.split("\t")[0]!, limit: 1 });
    if ((hits[0]?.relevance ?? 0) >= POOR_RELEVANCE) fits++;
  }
  return [fits, lines.length];
}

/** As train.py has it. */
function foldOf(query: string): string {
  return String(createHash("sha256").update(query).digest()[0]! % 2);
}

const BINS = 10;

/** By how much the relevance of first answers misses the share of them that is right. */
function calibrationError(firsts: { relevance: number; isRight: boolean }[]): number {
  const bins = Map.groupBy(
    firsts,
    ({ relevance }) => Math.min(BINS - 1, Math.floor(relevance * BINS)),
  );
  let error = 0;
  for (const bin of bins.values()) {
    const said = bin.reduce((sum, { relevance }) => sum + relevance, 0);
    error += Math.abs(said - bin.filter(({ isRight }) => isRight).length);
  }
  return error / Math.max(1, firsts.length);
}

const rows = [[
  "table",
  "set",
  "R@5 / MRR",
  "first-answer calibration error",
  "everyday",
  "second list",
  "hopeless: said so",
  "hard: not said",
]];
for (const argument of Deno.args) {
  const [table = "", only] = argument.replace(/#.*/, "").split(":");
  const fold = argument.split("#")[1];
  const sets = (await loadDataSets()).filter(({ name }) => only?.split(",").includes(name) ?? true);
  for (const set of sets) {
    await using search = await openSearch(table, set);
    const firsts: { relevance: number; isRight: boolean }[] = [];
    const relevant = new Map(set.queries.map(({ query, relevant }) => [query, relevant]));
    const queries = set.queries.filter(({ query }) => (fold ?? foldOf(query)) === foldOf(query));
    const { recall5, mrr } = await measure(queries, async (query) => {
      const { hits } = await search.search({ query });
      const [first] = hits;
      if (first) {
        const isRight = relevant.get(query)!.includes(first.key);
        firsts.push({ relevance: first.relevance, isRight });
      }
      return hits.map(({ key }) => key);
    });
    const row = [
      table.split("/").at(-1)!,
      fold === undefined ? set.name : `${set.name}, half ${fold}`,
      `${recall5.toFixed(1)} / ${mrr.toFixed(1)}`,
      calibrationError(firsts).toFixed(3),
    ];
    if (set.name === "many") {
      const [wrongly, hopeless] = await fitting(search, "hopeless");
      row.push(await inFive(search, "everyday"), await inFive(search, "everyday_second"));
      row.push(share(hopeless - wrongly, hopeless), share(...await fitting(search, "hard")));
    }
    rows.push(row);
  }
}
printTable("tables of embeddings", rows);
