import assert from "node:assert/strict";
import { Store } from "../../storage/store.ts";
import { ToolsetsRepository } from "../../storage/catalog_repositories.ts";
import { SavedToolsets, type ToolsetsChange } from "./saved_toolsets.ts";
import { toolsetOf } from "./testing/toolsets.ts";

const words = ({ toolsets, principals }: ToolsetsChange) => [[...toolsets], [...principals]];

Deno.test("SavedToolsets.load() answers what is different, and keeps the objects that are not", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolsetsRepository(store);
  const saved = new SavedToolsets(repository);
  const [dev, ops] = [toolsetOf("dev", ["git.status"]), toolsetOf("ops", ["docker.ps"])];
  assert.deepEqual(words(await saved.load()), [[], []]);

  await repository.save(dev, null);
  const versionstamp = await repository.save(ops, null);
  assert.deepEqual(words(await saved.load()), [["dev", "ops"], []]);
  const known = saved.find("dev");

  assert.ok(await repository.equip("A", { value: ops, versionstamp }, undefined, 1));
  assert.deepEqual(words(await saved.load()), [[], ["A"]]);
  assert.equal(saved.equippedBy("A"), saved.find("ops"));
  assert.equal(saved.equippedBy("B"), undefined);

  await repository.save({ ...ops, updatedAt: 2 }, versionstamp);
  assert.deepEqual(words(await saved.load()), [["ops"], ["A"]]);
  assert.equal(saved.equippedBy("A")?.updatedAt, 2);
  assert.equal(saved.find("dev"), known);

  await repository.delete("ops");
  assert.deepEqual(words(await saved.load()), [["ops"], ["A"]]);
  assert.equal(saved.equippedBy("A"), undefined);
  assert.equal(saved.equipped().size, 0);
  assert.deepEqual(words(await saved.load()), [[], []]);
});

Deno.test("SavedToolsets.load() never takes up what was read earlier after what was read later", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ToolsetsRepository(store);
  const saved = new SavedToolsets(repository);
  const loads = [];
  for (let index = 0; index < 20; index++) {
    await repository.save(toolsetOf(`t${index}`, ["git.status"]), null);
    loads.push(saved.load());
  }
  const changes = await Promise.all(loads);
  const told = changes.flatMap(({ toolsets }) => [...toolsets]);
  assert.equal(saved.list().length, 20);
  assert.equal(told.length, 20, "each was new once");
});
