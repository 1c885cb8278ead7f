import assert from "node:assert/strict";
import { LocalEmbedder } from "./local_embedder.ts";
import { dot, lengthOf, quantize, unit } from "./vectors.ts";

Deno.test("LocalEmbedder.embed() tells meanings apart, ends when idle and starts again", async () => {
  await using embedder = new LocalEmbedder({ keepMs: 50 });
  assert.equal(embedder.isLoaded, false);
  const signal = AbortSignal.timeout(60_000);
  const [query, near, far] = await embedder.embed([
    "what will the weather be like tomorrow",
    "forecast of rain and temperature",
    "merge two branches of a repository",
  ], signal);
  const direction = unit(query!);
  const nearness = (vector: Float32Array) => {
    const kept = quantize(vector);
    return dot(direction, kept) / lengthOf(kept);
  };
  assert.ok(nearness(near!) > nearness(far!) + 0.1);

  for (let tries = 0; tries < 3_000 && embedder.isLoaded; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(embedder.isLoaded, false);
  assert.equal((await embedder.embed(["again"], signal))[0]!.length, 512);
});

Deno.test("LocalEmbedder.embed() gives up when told", async () => {
  await using embedder = new LocalEmbedder();
  const controller = new AbortController();
  const asked = embedder.embed(["a"], controller.signal);
  controller.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
});
