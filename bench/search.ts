/** How well and how fast tools are found, and how well other ways find them. */
import { basename } from "@std/path";
import { createEmbedder } from "../lib/catalog/search/embedding/embedder.ts";
import { SemanticIndex } from "../lib/catalog/search/embedding/semantic_index.ts";
import { ToolSearch } from "../lib/catalog/search/tool_search.ts";
import { printTable } from "./report.ts";
import { type DataSet, loadDataSets } from "./search_data.ts";
import { measure, type Measures, pairedDifference } from "./search_measures.ts";
import { RIVALS } from "./search_rivals.ts";

const HEAD = [
  "",
  "R@1",
  "R@5",
  "R@10",
  "MRR",
  "nDCG@10",
  "p50 ms",
  "p95 ms",
  "build ms",
  "R@5 minus words [95 %]",
  "MRR minus words [95 %]",
];
const SIZES = [3_000, 10_000];
const SIZE_PROGRAM = new URL("./search_size.ts", import.meta.url).href;

interface Row {
  name: string;
  measures: Measures;
  build: number;
}

/** `--set=NAME` keeps to one data set, `--model=FOLDER` adds a Hugging Face model. */
export async function benchSearch(): Promise<void> {
  const flag = (name: string) =>
    Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const only = flag("set");
  const model = flag("model");
  const sets = (await loadDataSets()).filter(({ name }) => only === undefined || name === only);
  for (const set of sets) {
    const rows: Row[] = [];
    for (const [name, open] of Object.entries(RIVALS)) {
      const started = performance.now();
      const search = await open(set.documents);
      const build = performance.now() - started;
      rows.push({ name, measures: await measure(set.queries, search), build });
    }
    const words = await ours("by words", set, { embeddings: "none" });
    rows.push(words, await ours("built-in", set, { embeddings: "local" }));
    if (model !== undefined) {
      const options = { embeddings: "transformers", embeddingsModel: model } as const;
      rows.push(await ours(basename(model), set, options));
    }
    printTable(
      `search: ${set.name}, ${set.documents.length} tools, ${set.queries.length} queries`,
      [HEAD, ...rows.map((row) => cells(row, words))],
    );
  }
  if (only === undefined) await bySize();
}

async function ours(
  name: string,
  { documents, queries }: DataSet,
  options: Parameters<typeof createEmbedder>[0],
): Promise<Row> {
  const started = performance.now();
  const embedder = await createEmbedder(options);
  await using search = new ToolSearch(
    embedder ? { semantic: new SemanticIndex({ embedder }) } : {},
  );
  search.update({ added: documents });
  await search.semantic?.settled();
  const build = performance.now() - started;
  let degraded = 0;
  const measures = await measure(queries, async (query) => {
    const found = await search.search({ query });
    if (found.degraded !== undefined) degraded++;
    return found.hits.map(({ key }) => key);
  });
  // A model that is too slow or does not know the language is not what was measured then.
  return { name: degraded === 0 ? name : `${name} (${degraded} by words)`, measures, build };
}

async function bySize(): Promise<void> {
  const rows = [
    ["tools", "by", "build ms", "first query", "p50 ms", "p95 ms", "RSS MB", "before the index"],
  ];
  for (const size of SIZES) {
    for (const by of ["words", "meaning too"]) {
      const flags = ["-q", "-A", "--v8-flags=--max-semi-space-size=16"];
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", ...flags, SIZE_PROGRAM, String(size), by],
        stderr: "inherit",
      }).output();
      const { build, firstMode, p50, p95, rss, before } = JSON.parse(
        new TextDecoder().decode(stdout),
      );
      const values = [p50, p95, rss, before].map((value: number) => value.toFixed(1));
      rows.push([String(size), by, build.toFixed(0), firstMode, ...values]);
    }
  }
  printTable("search by size (goals: 10,000 tools in 2 s, p95 10 ms, 300 MB)", rows);
}

function cells({ name, measures, build }: Row, words: Row): string[] {
  const { recall1, recall5, recall10, mrr, ndcg10, p50, p95 } = measures;
  const against = (of: "recall5" | "inverseRank") => {
    const { mean, low, high } = pairedDifference(measures, words.measures, of);
    return `${mean.toFixed(1)} [${low.toFixed(1)}, ${high.toFixed(1)}]`;
  };
  return [
    name,
    ...[recall1, recall5, recall10, mrr, ndcg10, p50, p95].map((value) => value.toFixed(1)),
    build.toFixed(0),
    ...(measures === words.measures ? ["", ""] : [against("recall5"), against("inverseRank")]),
  ];
}
