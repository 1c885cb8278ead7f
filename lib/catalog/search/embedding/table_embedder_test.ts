import assert from "node:assert/strict";
import { TableEmbedder } from "./table_embedder.ts";
import { lengthOf, VectorBlock } from "./vector_block.ts";
import { quantize } from "./vectors.ts";

Deno.test("TableEmbedder tells meanings apart", async () => {
  await using embedder = await TableEmbedder.open();
  const nearness = (one: string, other: string) => {
    const [first, second] = [quantize(embedder.vectorOf(one)), quantize(embedder.vectorOf(other))];
    const block = new VectorBlock([second], second.length);
    block.aim(first);
    return block.product(0) / (lengthOf(first) * lengthOf(second));
  };
  const query = "what will the weather be like tomorrow";
  const near = nearness(query, "forecast of rain and temperature");
  assert.ok(near > nearness(query, "merge two branches of a repository") + 0.2);
});

Deno.test("TableEmbedder reads names at their humps, and unknown words in pieces", async () => {
  await using embedder = await TableEmbedder.open();
  assert.deepEqual(
    embedder.vectorOf("createPullRequest"),
    embedder.vectorOf("create pull request"),
  );
  assert.ok(embedder.vectorOf("zyxwvq").some((value) => value !== 0));
  assert.deepEqual(embedder.vectorOf("café"), embedder.vectorOf("cafe"));
});

Deno.test("TableEmbedder gives zeros for a text in another script", async () => {
  await using embedder = await TableEmbedder.open();
  assert.ok(embedder.vectorOf("天気予報").every((value) => value === 0));
  assert.ok(embedder.vectorOf("").every((value) => value === 0));
});

Deno.test("TableEmbedder.open() says what to do about a table it cannot read", async () => {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, '{"id":"x","dimensions":4,"tokens":10}\nhalf a file');
    await assert.rejects(TableEmbedder.open(path), /Cannot read the built-in embedding table/);
  } finally {
    await Deno.remove(path);
  }
});
