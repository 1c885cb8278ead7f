import assert from "node:assert/strict";
import { Store } from "../../../storage/store.ts";
import { VectorsRepository } from "../../../storage/catalog_repositories.ts";
import { aDocument, someDocuments } from "../testing/documents.ts";
import { ToolSearch } from "../tool_search.ts";
import type { Embedder } from "./embedder.ts";
import { type EmbeddingProgress, SemanticIndex } from "./semantic_index.ts";

/** Knows a few topics, each a dimension. */
class TopicEmbedder implements Embedder {
  readonly id = "topics";
  readonly batch = 4;
  isDown = false;
  isClosed = false;
  asked: string[] = [];

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (this.isDown) return Promise.reject(new Error("down"));
    this.asked.push(...texts);
    const topics = [/flight|airport|plane/i, /weather|forecast|umbrella/i, /file|directory/i];
    return Promise.resolve(
      texts.map((text) =>
        Float32Array.from([...topics.map((topic) => topic.test(text) ? 1 : 0), 0.3])
      ),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

Deno.test("ToolSearch finds by meaning what shares no word", async () => {
  await using search = new ToolSearch({
    semantic: new SemanticIndex({ embedder: new TopicEmbedder() }),
  });
  search.update({ added: someDocuments() });
  await search.semantic!.settled();
  const { hits, mode } = await search.search({ query: "umbrella" });
  assert.equal(mode, "hybrid");
  assert.equal(hits[0]!.key, "weather.get_forecast");
  const admitted = await search.search({
    query: "umbrella",
    admits: (key) => key !== "weather.get_forecast",
  });
  assert.ok(!admitted.hits.some(({ key }) => key === "weather.get_forecast"));
});

Deno.test("ToolSearch tells a model what a bare command does", async () => {
  const embedder = new TopicEmbedder();
  await using search = new ToolSearch({ semantic: new SemanticIndex({ embedder }) });
  search.update({ added: someDocuments() });
  await search.semantic!.settled();
  const { hits } = await search.search({ query: "rm" });
  assert.equal(hits[0]!.key, "files.delete_file");
  assert.ok(embedder.asked.includes("delete remove file"));
});

Deno.test("ToolSearch does not guess the meaning of a language that the model does not know", async () => {
  const embedder = Object.assign(new TopicEmbedder(), { knows: () => false });
  await using search = new ToolSearch({ semantic: new SemanticIndex({ embedder }) });
  search.update({ added: someDocuments() });
  await search.semantic!.settled();
  for (const query of ["погода в Осло завтра", "supprimer fichier"]) {
    const { hits, mode, degraded } = await search.search({ query });
    assert.deepEqual([hits, mode], [[], "lexical"], query);
    assert.match(degraded!, /does not look like English/);
  }
  const multilingual = new TopicEmbedder();
  await using other = new ToolSearch({ semantic: new SemanticIndex({ embedder: multilingual }) });
  other.update({ added: someDocuments() });
  await other.semantic!.settled();
  assert.equal((await other.search({ query: "погода" })).mode, "hybrid");
});

Deno.test("ToolSearch goes by words alone where hybridSearchRatio is 0", async () => {
  const embedder = new TopicEmbedder();
  await using search = new ToolSearch({
    semantic: new SemanticIndex({ embedder }),
    hybridSearchRatio: 0,
  });
  search.update({ added: someDocuments() });
  assert.deepEqual(await search.search({ query: "umbrella" }), { hits: [], mode: "lexical" });
  assert.deepEqual(embedder.asked, []);
});

Deno.test("SemanticIndex embeds each text once, and takes what was kept after a restart", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const cache = new VectorsRepository(store);
  const progress: EmbeddingProgress[] = [];
  const first = new TopicEmbedder();
  {
    await using index = new SemanticIndex({
      embedder: first,
      cache,
      onProgress: (each) => progress.push(each),
    });
    index.update({ added: someDocuments() });
    await index.settled();
    assert.equal(first.asked.length, new Set(first.asked).size);
    assert.equal(progress.at(-1)!.state, "ready");
    assert.equal(progress.at(-1)!.done, first.asked.length);
  }
  const second = new TopicEmbedder();
  await using index = new SemanticIndex({ embedder: second, cache });
  index.update({ added: [...someDocuments(), aDocument("new", "tool", "Brand new")] });
  await index.settled();
  assert.deepEqual(second.asked, ["tool. Brand new"]);
  assert.equal(index.progress.state, "ready");
});

Deno.test("SemanticIndex.complete() waits for every vector, and throws if there are none", async () => {
  const embedder = new TopicEmbedder();
  let now = 0;
  await using index = new SemanticIndex({ embedder, restMs: 1_000, now: () => now });
  embedder.isDown = true;
  index.update({ added: someDocuments() });
  await assert.rejects(
    index.complete(),
    /^Error: Cannot index all tools \(0 of \d+\): The embedding/,
  );
  embedder.isDown = false;
  now = 1_000;
  await index.complete();
  assert.equal(index.progress.state, "ready");
});

Deno.test("SemanticIndex leaves an embedder open that others use", async () => {
  const embedder = new TopicEmbedder();
  await new SemanticIndex({ embedder, isShared: true })[Symbol.asyncDispose]();
  assert.equal(embedder.isClosed, false);
  await new SemanticIndex({ embedder })[Symbol.asyncDispose]();
  assert.equal(embedder.isClosed, true);
});

Deno.test("ToolSearch goes on by words when the backend is down, says so, and recovers", async () => {
  const embedder = new TopicEmbedder();
  let now = 0;
  await using search = new ToolSearch({
    semantic: new SemanticIndex({ embedder, restMs: 1_000, now: () => now }),
  });
  search.update({ added: someDocuments() });
  await search.semantic!.settled();
  embedder.isDown = true;
  const down = await search.search({ query: "weather tomorrow" });
  assert.equal(down.mode, "lexical");
  assert.match(down.degraded!, /embedding backend failed/);
  assert.equal(down.hits[0]!.key, "weather.get_forecast");
  assert.equal(search.semantic!.progress.state, "failed");

  embedder.isDown = false;
  assert.equal((await search.search({ query: "weather today" })).mode, "lexical");
  now = 2_000;
  const up = await search.search({ query: "weather today" });
  assert.deepEqual([up.mode, up.degraded], ["hybrid", undefined]);
});

Deno.test("ToolSearch recovers when the backend was down from the start", async () => {
  const embedder = new TopicEmbedder();
  embedder.isDown = true;
  let now = 0;
  await using search = new ToolSearch({
    semantic: new SemanticIndex({ embedder, restMs: 1_000, now: () => now }),
  });
  search.update({ added: someDocuments() });
  await search.semantic!.settled();
  assert.match((await search.search({ query: "weather" })).degraded!, /failed/);
  embedder.isDown = false;
  now = 2_000;
  await search.search({ query: "weather" });
  await search.semantic!.settled();
  assert.equal((await search.search({ query: "weather" })).mode, "hybrid");
});

Deno.test("SemanticIndex.compare() does not wait for a backend that hangs", async () => {
  const embedder = new TopicEmbedder();
  await using index = new SemanticIndex({ embedder, queryLimitMs: 20 });
  index.update({ added: someDocuments() });
  await index.settled();
  embedder.embed = (_texts: readonly string[], signal?: AbortSignal) =>
    new Promise((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true })
    );
  // Keeps the test's process awake: the limit's timer alone does not.
  const awake = setTimeout(() => {}, 10_000);
  const answer = await index.compare("weather");
  clearTimeout(awake);
  assert.deepEqual(answer, { degraded: "The embedding backend did not answer in time" });
});

Deno.test("SemanticIndex.forget() has vectors computed again, kept or not", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const embedder = new TopicEmbedder();
  await using index = new SemanticIndex({ embedder, cache: new VectorsRepository(store) });
  index.update({ added: someDocuments() });
  await index.settled();
  const { done } = index.progress;
  embedder.asked = [];
  index.forget();
  assert.equal(index.progress.done, 0);
  index.update({ added: someDocuments() });
  await index.settled();
  assert.deepEqual([index.progress.state, index.progress.done], ["ready", done]);
  assert.equal(embedder.asked.length, done);
});
