import assert from "node:assert/strict";
import { keys } from "./keys.ts";
import { Store } from "./store.ts";
import { ToolMetadataRepository } from "./tool_metadata_repository.ts";

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
  await store.commit({ sets: [{ key: keys.toolMetadataOf("git", "push"), value: broken }] });
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
