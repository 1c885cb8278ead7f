/** How well and how fast tools are found: by words, by meaning too, and by Orama as it comes. */
import { type AnyOrama, create, insertMultiple, search as oramaSearch } from "@orama/orama";
import { TableEmbedder } from "../lib/catalog/search/embedding/table_embedder.ts";
import { SemanticIndex } from "../lib/catalog/search/embedding/semantic_index.ts";
import { SearchIndex } from "../lib/catalog/search/search_index.ts";
import { ToolSearch } from "../lib/catalog/search/tool_search.ts";
import { printTable } from "./report.ts";
import { type DataSet, loadDataSets } from "./search_data.ts";
import { measure, type Measures } from "./search_measures.ts";

const HEAD = ["", "R@1", "R@3", "R@5", "R@10", "MRR", "nDCG@10", "p50 ms", "p95 ms", "build ms"];
const SIZES = [2_000, 10_000];
const SIZE_PROGRAM = new URL("./search_size.ts", import.meta.url).href;

/** `--lexical` leaves out the embeddings. */
export async function benchSearch(): Promise<void> {
  const sets = await loadDataSets();
  const isLexicalOnly = Deno.args.includes("--lexical");
  for (const set of sets) {
    const rows = [HEAD, await plainOrama(set), await byWords(set)];
    if (!isLexicalOnly) rows.push(await byMeaningToo(set));
    printTable(
      `search: ${set.name}, ${set.documents.length} tools, ${set.queries.length} queries`,
      rows,
    );
  }
  await bySize();
}

async function plainOrama({ documents, queries }: DataSet): Promise<string[]> {
  const started = performance.now();
  const orama: AnyOrama = create({
    schema: { server: "string", name: "string", description: "string", parameters: "string" },
  });
  await insertMultiple(
    orama,
    documents.map(({ key, server, name, description, parameters }) => ({
      id: key,
      server,
      name,
      description,
      parameters,
    })),
  );
  const build = performance.now() - started;
  const measures = await measure(
    queries,
    async (term) => (await oramaSearch(orama, { term, limit: 10 })).hits.map(({ id }) => id),
  );
  return row("Orama as it comes", measures, build);
}

async function byWords({ documents, queries }: DataSet): Promise<string[]> {
  const started = performance.now();
  const index = new SearchIndex();
  index.update({ added: documents });
  const build = performance.now() - started;
  const measures = await measure(
    queries,
    (query) => index.search({ query }).map(({ key }) => key),
  );
  return row("by words", measures, build);
}

async function byMeaningToo({ documents, queries }: DataSet): Promise<string[]> {
  const started = performance.now();
  await using search = new ToolSearch({
    semantic: new SemanticIndex({ embedder: await TableEmbedder.open() }),
  });
  search.update({ added: documents });
  await search.semantic?.settled();
  const build = performance.now() - started;
  const measures = await measure(
    queries,
    async (query) => (await search.search({ query })).hits.map(({ key }) => key),
  );
  return row("by words and meaning", measures, build);
}

async function bySize(): Promise<void> {
  const rows = [
    ["tools", "by", "build ms", "p50 ms", "p95 ms", "RSS MB", "of that before the index"],
  ];
  for (const size of SIZES) {
    for (const by of ["words", "meaning too"]) {
      const flags = ["-q", "-A", "--v8-flags=--max-semi-space-size=16"];
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", ...flags, SIZE_PROGRAM, String(size), by],
        stderr: "inherit",
      }).output();
      const { build, p50, p95, rss, before } = JSON.parse(new TextDecoder().decode(stdout));
      const values = [build, p50, p95, rss, before].map((value: number) => value.toFixed(1));
      rows.push([String(size), by, ...values]);
    }
  }
  printTable("search by size (goals: 10,000 tools in 2 s, p95 10 ms, 300 MB)", rows);
}

function row(name: string, measures: Measures, build: number): string[] {
  const { recall1, recall3, recall5, recall10, mrr, ndcg10, p50, p95 } = measures;
  return [
    name,
    ...[recall1, recall3, recall5, recall10, mrr, ndcg10, p50, p95].map((each) => each.toFixed(1)),
    build.toFixed(0),
  ];
}
