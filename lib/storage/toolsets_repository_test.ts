import assert from "node:assert/strict";
import type { Toolset } from "../core/toolset.ts";
import { Store } from "./store.ts";
import { ToolsetsRepository } from "./toolsets_repository.ts";

const dev: Toolset = {
  id: "1",
  name: "dev",
  tools: [{ server: "git", tool: "status" }],
  createdAt: 1,
  updatedAt: 1,
};

Deno.test("ToolsetsRepository.equip() is done only over what was read", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolsetsRepository(store);
  await repository.save(dev, null);
  const stale = await repository.resolve("dev");
  await repository.save({ ...dev, updatedAt: 2 }, stale.versionstamp);
  assert.equal(await repository.equip("A", stale, undefined, 5), false);
  assert.equal(await repository.equipped.find("A"), undefined);

  const fresh = await repository.resolve("dev");
  assert.equal(await repository.equip("A", fresh, undefined, 5), true);
  const equipped = await repository.equipped.resolve("A");
  assert.deepEqual(equipped.value, {
    principal: "A",
    toolset: "dev",
    toolsetId: "1",
    equippedAt: 5,
  });
  assert.equal(await repository.equip("A", fresh, undefined, 6), false, "another was first");
  assert.equal(await repository.equip("A", fresh, equipped, 6), true);
  assert.equal(await repository.equip("A", fresh, equipped, 7), false);
  assert.equal((await repository.equipped.resolve("A")).value.equippedAt, 6);

  await repository.delete("dev");
  const before = await repository.equipped.resolve("A");
  assert.equal(await repository.equip("A", fresh, before, 8), false, "it is gone");
});

Deno.test("ToolsetsRepository.equip() is heard by other gateways", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolsetsRepository(store);
  await repository.save(dev, null);
  const before = await store.generation();
  await repository.equip("A", await repository.resolve("dev"), undefined, 1);
  assert.equal(await store.generation(), before + 1n);
});

Deno.test("ToolsetsRepository keeps a toolset of the largest size", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolsetsRepository(store);
  const tools = Array.from({ length: 2_000 }, (_, index) => ({
    server: "s".repeat(64),
    tool: `${index}`.padStart(200, "t"),
    fingerprint: "f".repeat(32),
  }));
  await repository.save({ ...dev, tools }, null);
  assert.deepEqual((await repository.resolve("dev")).value.tools, tools);
});
