import assert from "node:assert/strict";
import type { PromotedTool, PromotionEvent } from "../core/optimization.ts";
import { keys } from "./keys.ts";
import { PromotionsRepository } from "./promotions_repository.ts";
import { Store } from "./store.ts";
import { promotionSample } from "./testing/optimization_samples.ts";

function event(id: string, promotion: PromotedTool | null, toolName = "status"): PromotionEvent {
  return {
    id,
    server: "git",
    toolName,
    time: "2026-01-01T00:00:00.000Z",
    action: promotion ? "promote" : "revert",
    by: "person",
    promotion,
  };
}

Deno.test("PromotionsRepository.change() makes the promotion and its event one commit", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new PromotionsRepository(store);
  const promotion = promotionSample({ id: "e1", canonicalDescription: "s".repeat(900_000) });
  assert.equal(await repository.change(event("e1", promotion), null), true);
  const found = await repository.find("git", "status");
  assert.deepEqual(found?.value, promotion);
  const step = await store.read(keys.promotionEvents("git", "status", "e1"));
  assert.equal(step?.versionstamp, found.versionstamp);
  assert.deepEqual(await repository.all(), [promotion]);
  assert.equal(await store.generation(), 1n, "other gateways hear of it");

  assert.equal(await repository.change(event("e2", null), found.versionstamp), true);
  assert.equal(await repository.find("git", "status"), undefined);
  assert.deepEqual(await repository.history("git", "status"), [
    event("e2", null),
    event("e1", promotion),
  ]);
  assert.deepEqual(await repository.newest("git", "status"), event("e2", null));
});

Deno.test("PromotionsRepository.change() changes nothing where the promotion is another one", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new PromotionsRepository(store);
  await repository.change(event("e1", promotionSample({ id: "e1" })), null);
  const stale = await repository.find("git", "status");
  await repository.change(event("e2", promotionSample({ id: "e2" })), stale!.versionstamp);
  const other = promotionSample({ id: "e3", description: "Another" });
  assert.equal(await repository.change(event("e3", other), stale!.versionstamp), false);
  assert.equal(await repository.change(event("e3", other), null), false);
  assert.equal(await repository.change(event("e3", null), stale!.versionstamp), false);
  assert.equal((await repository.find("git", "status"))?.value.id, "e2");
  assert.deepEqual((await repository.history("git", "status")).map(({ id }) => id), ["e2", "e1"]);
  assert.equal(await store.generation(), 2n);
});

Deno.test("PromotionsRepository.change() never overwrites a step of the history", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new PromotionsRepository(store);
  await repository.change(event("e1", promotionSample({ id: "e1" })), null);
  const before = await repository.find("git", "status");
  assert.equal(await repository.change(event("e1", null), before!.versionstamp), false);
  assert.equal((await repository.newest("git", "status"))?.action, "promote");
});

Deno.test("PromotionsRepository keeps apart tools whose names are too long or odd for a key", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new PromotionsRepository(store);
  const tools = ["t".repeat(5_000), "t".repeat(5_001), "\ud800", "\ud801", "#"];
  for (const toolName of tools) {
    const promotion = promotionSample({ toolName });
    assert.equal(await repository.change(event("e1", promotion, toolName), null), true);
  }
  for (const toolName of tools) {
    assert.deepEqual(
      (await repository.find("git", toolName))?.value,
      promotionSample({ toolName }),
    );
    assert.equal((await repository.history("git", toolName)).length, 1);
  }
});
