import assert from "node:assert/strict";
import type { Toolset } from "../core/tool.ts";
import { Store } from "./store.ts";
import { ToolMetadataRepository, ToolsetsRepository } from "./catalog_repositories.ts";
import { keys } from "./keys.ts";

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

Deno.test("ToolMetadataRepository keeps what is said of a tool until nothing is", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolMetadataRepository(store);
  const said = { server: "git", tool: "push", summary: "Send it", category: "mine" };
  await repository.save(said);
  await repository.save({ server: "git", tool: "log", deprecated: "Use show" });
  assert.deepEqual(await repository.overrides(), [
    { server: "git", tool: "log", deprecated: "Use show" },
    said,
  ]);
  await repository.save({ server: "git", tool: "push" });
  assert.deepEqual((await repository.overrides()).map(({ tool }) => tool), ["log"]);
});

Deno.test("ToolMetadataRepository.save() does not write over what somebody else said meanwhile", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolMetadataRepository(store);
  const said = (summary?: string) => ({
    server: "git",
    tool: "push",
    ...(summary === undefined ? {} : { summary }),
  });
  const conflict = { code: "CONFLICT" };
  await repository.save(said("first"), null);
  const first = await repository.find("git", "push");
  assert.equal(first?.value.summary, "first");
  await assert.rejects(repository.save(said("second"), null), conflict);
  await repository.save(said("second"), first.versionstamp);
  await assert.rejects(repository.save(said("third"), first.versionstamp), conflict);
  await assert.rejects(repository.save(said(), first.versionstamp), conflict, "nor deletes it");
  assert.equal((await repository.find("git", "push"))?.value.summary, "second");
  await repository.save(said());
  assert.equal(await repository.find("git", "push"), undefined);
});

Deno.test("ToolMetadataRepository leaves out what it cannot read, and says so", async () => {
  const warnings: string[] = [];
  await using store = await Store.open({
    location: ":memory:",
    onWarning: (message) => warnings.push(message),
  });
  const repository = new ToolMetadataRepository(store);
  await repository.save({ server: "git", tool: "log", summary: "Fine" });
  const broken = { server: "git", tool: "push", summary: "x".repeat(81) };
  await store.commit({ sets: [{ key: keys.toolMetadata("git", "push"), value: broken }] });
  assert.deepEqual((await repository.overrides()).map(({ tool }) => tool), ["log"]);
  assert.equal(warnings.length, 1);
  assert.deepEqual([...await repository.tokens("git")], []);
});

Deno.test("ToolMetadataRepository keeps the counts of thousands of tools", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolMetadataRepository(store);
  const counts = new Map(
    Array.from({ length: 5_000 }, (_, n) => [n.toString(16).padStart(32, "0"), n]),
  );
  await repository.saveTokens("many", counts);
  assert.deepEqual(await repository.tokens("many"), counts);
});
