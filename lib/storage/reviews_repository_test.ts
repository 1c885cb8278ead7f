import assert from "node:assert/strict";
import {
  noReviews,
  PinsRepository,
  ReviewsRepository,
  VerdictsRepository,
} from "./reviews_repository.ts";
import { Store } from "./store.ts";

const pins = {
  server: "s",
  isWhole: true,
  tools: [{ name: "a", text: "{}", fingerprint: "f", pinnedAt: 1 }],
};

Deno.test("ReviewsRepository.change() keeps reviews and pins together, or neither", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const reviews = new ReviewsRepository(store);
  const pinned = new PinsRepository(store);
  const before = await store.generation();
  assert.equal(await reviews.change(noReviews("s"), pins, null), true);
  assert.equal(await store.generation(), before + 1n);
  assert.deepEqual((await pinned.find("s"))?.value, pins);
  const first = await reviews.find("s");
  assert.equal(first?.value.pinsRevision, 1);

  const stale = { ...pins, tools: [] };
  assert.equal(await reviews.change(noReviews("s"), stale, null), false);
  assert.deepEqual((await pinned.find("s"))?.value, pins);
  assert.equal(await reviews.change(first!.value, undefined, first!.versionstamp), true);
  assert.equal((await reviews.find("s"))?.value.pinsRevision, 1);
});

Deno.test("ReviewsRepository.change() bounds what a server can make it keep", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const reviews = new ReviewsRepository(store);
  const notices = Array.from({ length: 700 }, (_, index) => ({
    tool: `t${index}`,
    text: "{}",
    fingerprint: "f",
    at: index,
  }));
  await reviews.change({ ...noReviews("s"), notices }, undefined, null);
  const kept = (await reviews.find("s"))?.value.notices ?? [];
  assert.deepEqual([kept.length, kept[0]?.tool], [500, "t0"]);
});

Deno.test("ReviewsRepository.removeServer() leaves nothing of a server", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const reviews = new ReviewsRepository(store);
  const verdicts = new VerdictsRepository(store);
  await reviews.change(noReviews("s"), pins, null);
  await verdicts.save("s", { stamp: "1", clean: ["f"], found: [] });
  assert.deepEqual((await verdicts.find("s"))?.clean, ["f"]);
  await reviews.removeServer("s");
  assert.equal(await reviews.find("s"), undefined);
  assert.equal(await new PinsRepository(store).find("s"), undefined);
  assert.equal(await verdicts.find("s"), undefined);
});
