import assert from "node:assert/strict";
import { EVERYONE } from "../../core/access.ts";
import { Store } from "../../storage/store.ts";
import { failure } from "../../storage/testing/failures.ts";
import { ToolsetsRepository } from "../../storage/catalog_repositories.ts";
import { catalogOf, listed, toolsetOf } from "./testing/toolsets.ts";
import { Toolsets, type ToolsetsChange } from "./toolsets.ts";
import type { Availability } from "./toolset_tools.ts";

/** A gateway's toolsets on a store that others may share. */
function toolsetsOn(store: Store) {
  const { catalog, names } = catalogOf({ git: ["status", "log"], docker: ["ps"] });
  const away = new Set<string>();
  const news: string[] = [];
  const changes: ToolsetsChange[] = [];
  const audited: string[] = [];
  const toolsets = new Toolsets({
    repository: new ToolsetsRepository(store),
    catalog,
    names,
    availability: (server): Availability => away.has(server) ? "away" : "available",
    onNews: (_, message) => news.push(message),
    onAudit: ({ action }) => void audited.push(action),
  });
  toolsets.onChange((change) => changes.push(change));
  const build = (name: string, tools: string[], replace?: boolean) =>
    toolsets.save({ name, tools: toolsets.choose(tools), replace });
  const equipped = (principal = EVERYONE) => toolsets.equippedBy(principal)?.name;
  return { toolsets, catalog, away, news, changes, audited, build, equipped };
}

function test(name: string, run: (store: Store) => Promise<void>): void {
  Deno.test(name, async () => {
    await using store = await Store.open({ location: ":memory:" });
    await run(store);
  });
}

test("Toolsets.save() saves, and replaces only where told", async (store) => {
  const { toolsets, build } = toolsetsOn(store);
  const saved = await build("dev", ["git.*"]);
  assert.deepEqual(saved.tools.map(({ tool }) => tool), ["status", "log"]);
  assert.deepEqual(toolsets.find("dev"), saved);
  const conflict = await failure(build("dev", ["docker.ps"]), "CONFLICT");
  assert.equal(conflict.message, 'Toolset "dev" already exists');
  assert.deepEqual(toolsets.find("dev"), saved);
  const replaced = await build("dev", ["docker.ps"], true);
  assert.deepEqual(replaced.tools.map(({ tool }) => tool), ["ps"]);
  assert.deepEqual([replaced.id, replaced.createdAt], [saved.id, saved.createdAt]);
  assert.deepEqual(toolsets.list(), [replaced]);
});

test("Toolsets.save() takes the place of the version that is named, and of no later one", async (store) => {
  const { toolsets, build } = toolsetsOn(store);
  await build("dev", ["git.status"]);
  const over = toolsets.versionOf("dev");
  const theirs = await build("dev", ["git.log"], true);
  const tools = toolsets.choose(["docker.ps"]);
  const error = await failure(
    toolsets.save({ name: "dev", tools, replace: true, over }),
    "CONFLICT",
  );
  assert.match(error.message, /someone changed it since/);
  assert.deepEqual(toolsets.find("dev"), theirs);
  await toolsets.save({ name: "dev", tools, replace: true, over: toolsets.versionOf("dev") });
  assert.deepEqual(toolsets.find("dev")?.tools.map(({ tool }) => tool), ["ps"]);
});

test("Toolsets.save() keeps the description of what it replaces unless there is another", async (store) => {
  const { toolsets } = toolsetsOn(store);
  const tools = toolsets.choose(["git.status"]);
  await toolsets.save({ name: "dev", description: "For work", tools });
  await toolsets.save({ name: "dev", tools, replace: true });
  assert.equal(toolsets.find("dev")?.description, "For work");
  await toolsets.save({ name: "dev", description: "", tools, replace: true });
  assert.equal(toolsets.find("dev")?.description, "");
});

test("Toolsets.save() refuses names and contents that cannot be, and saves nothing", async (store) => {
  const { toolsets, build } = toolsetsOn(store);
  const odd = await failure(build("my tools", ["git.*"]), "INVALID_ARGUMENTS");
  assert.equal(odd.details.hint, "For example: my-tools");
  for (const name of ["", ".", "../x", "a/b", "x".repeat(65), "日本"]) {
    await failure(build(name, ["git.*"]), "INVALID_ARGUMENTS");
  }
  const empty = await failure(toolsets.save({ name: "dev", tools: [] }), "INVALID_ARGUMENTS");
  assert.equal(empty.message, "A toolset needs at least one tool");
  const many = Array.from({ length: 2_001 }, (_, index) => ({ server: "git", tool: `t${index}` }));
  await failure(toolsets.save({ name: "dev", tools: many }), "INVALID_ARGUMENTS");
  await toolsets.load();
  assert.deepEqual(toolsets.list(), []);
  for (const name of ["__proto__", "constructor", "toString"]) await build(name, ["git.status"]);
  assert.equal(toolsets.find("hasOwnProperty"), undefined);
  assert.equal(toolsets.find("constructor")?.name, "constructor");
});

test("Toolsets.choose() gives nothing where one tool cannot be found, and says what is near", async (store) => {
  const { toolsets } = toolsetsOn(store);
  const missing = await failure(
    (async () => await toolsets.choose(["git.status", "git.lgo", "dokcer.*"]))(),
    "TOOL_NOT_FOUND",
  );
  assert.equal(
    missing.message,
    'There is no tool "git.lgo" here; There is no server "dokcer" with tools',
  );
  assert.equal(missing.details.hint, "Did you mean git.log, docker.*?");
});

test("Toolsets.equip() changes what is registered, and what it tells of", async (store) => {
  const { toolsets, build, equipped, changes } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await build("ops", ["docker.ps"]);
  changes.length = 0;
  const dev = await toolsets.equip(EVERYONE, "dev");
  assert.deepEqual(toolsets.registered(dev).map(({ name }) => name), ["status", "log"]);
  assert.equal(toolsets.registered(dev), toolsets.registered(dev));
  await toolsets.equip(EVERYONE, "ops");
  assert.equal(equipped(), "ops");
  assert.equal(await toolsets.unequip(EVERYONE), "ops");
  assert.equal(await toolsets.unequip(EVERYONE), undefined);
  assert.equal(equipped(), undefined);
  assert.deepEqual(changes.map(({ principals }) => [...principals]), [
    [EVERYONE],
    [EVERYONE],
    [EVERYONE],
  ]);
});

test("Toolsets.equip() that fails leaves the old one equipped", async (store) => {
  const { toolsets, build, equipped } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await toolsets.equip(EVERYONE, "dev");
  const missing = await failure(toolsets.equip(EVERYONE, "dve"), "NOT_FOUND");
  assert.equal(missing.details.hint, "Did you mean dev?");
  for (const name of ["", "a b", "__proto__", "x".repeat(10_000)]) {
    await failure(toolsets.equip(EVERYONE, name), "NOT_FOUND");
    await failure(toolsets.remove(name), "NOT_FOUND");
  }
  assert.equal(equipped(), "dev");
});

test("Toolsets.equip() whose write fails leaves the old one equipped, and tells of nothing", async (store) => {
  const { toolsets, build, equipped, changes, news, away, audited } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await build("ops", ["docker.ps"]);
  const dev = await toolsets.equip(EVERYONE, "dev");
  const before = await store.generation();
  for (const list of [changes, news, audited]) list.length = 0;
  // It would be told that ops waits for it.
  away.add("docker");

  const { tryCommit } = store;
  store.tryCommit = () => Promise.reject(new Error("the disk is full"));
  await assert.rejects(toolsets.equip(EVERYONE, "ops"), /the disk is full/);
  store.tryCommit = tryCommit;

  await toolsets.load();
  assert.equal(equipped(), "dev");
  assert.deepEqual(toolsets.registered(dev).map(({ name }) => name), ["status", "log"]);
  assert.deepEqual([changes, news, audited], [[], [], []]);
  assert.equal(await store.generation(), before, "no other gateway is told either");
  await toolsets.equip(EVERYONE, "ops");
  assert.equal(equipped(), "ops");
});

test("Toolsets.equip() that loses to a change of the toolset leaves the old one equipped, and tells of nothing", async (store) => {
  const [one, other] = [toolsetsOn(store), toolsetsOn(store)];
  await one.build("dev", ["git.*"]);
  await one.build("ops", ["docker.ps"]);
  await one.toolsets.equip(EVERYONE, "dev");
  for (const list of [one.changes, one.audited]) list.length = 0;

  const tryCommit = store.tryCommit.bind(store);
  store.tryCommit = async (commit) => {
    store.tryCommit = tryCommit;
    await other.build("ops", ["git.log"], true);
    return await tryCommit(commit);
  };
  await failure(one.toolsets.equip(EVERYONE, "ops"), "OPERATION_IN_PROGRESS");

  assert.deepEqual([one.changes, one.audited], [[], []]);
  await one.toolsets.load();
  assert.deepEqual(one.changes.map(({ principals }) => [...principals]), [[]]);
  assert.equal(one.equipped(), "dev");
});

test("Toolsets.equip() is refused while another is under way; unequip() waits for it", async (store) => {
  const { toolsets, build, equipped } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await build("ops", ["docker.ps"]);
  const first = toolsets.equip(EVERYONE, "dev");
  const second = failure(toolsets.equip(EVERYONE, "ops"), "OPERATION_IN_PROGRESS");
  const other = toolsets.equip("somebody else", "ops");
  const unequipped = toolsets.unequip(EVERYONE);
  const third = failure(toolsets.equip(EVERYONE, "ops"), "OPERATION_IN_PROGRESS");
  assert.equal((await second).message, "Registration operation in progress, please wait");
  assert.equal((await first).name, "dev");
  assert.equal(await unequipped, "dev");
  await third;
  await other;
  assert.deepEqual([equipped(), equipped("somebody else")], [undefined, "ops"]);
  await toolsets.equip(EVERYONE, "ops");
  assert.equal(equipped(), "ops");
});

test("Toolsets.unequip() goes on after an equip that failed", async (store) => {
  const { toolsets, build } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await toolsets.equip(EVERYONE, "dev");
  const failing = failure(toolsets.equip(EVERYONE, "none"), "NOT_FOUND");
  assert.equal(await toolsets.unequip(EVERYONE), "dev");
  await failing;
});

test("Toolsets.remove() unequips; a new toolset of the old name is not equipped by itself", async (store) => {
  const { toolsets, build, equipped, changes } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await toolsets.equip(EVERYONE, "dev");
  changes.length = 0;
  await toolsets.remove("dev");
  assert.deepEqual([toolsets.list(), equipped()], [[], undefined]);
  assert.deepEqual(changes.map(({ principals }) => [...principals]), [[EVERYONE]]);
  await build("dev", ["docker.ps"]);
  assert.equal(equipped(), undefined);
  assert.equal(await toolsets.unequip(EVERYONE), undefined);
  await toolsets.equip(EVERYONE, "dev");
  assert.equal(equipped(), "dev");
});

test("Toolsets.remove() by two at once is done by one of them", async (store) => {
  const [one, other] = [toolsetsOn(store), toolsetsOn(store)];
  for (let round = 0; round < 20; round++) {
    await one.build("dev", ["git.*"]);
    const results = await Promise.allSettled([
      one.toolsets.remove("dev"),
      other.toolsets.remove("dev"),
    ]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  }
});

test("Toolsets.save() that replaces an equipped toolset changes what is registered", async (store) => {
  const { toolsets, build, equipped, changes } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await toolsets.equip(EVERYONE, "dev");
  changes.length = 0;
  await build("dev", ["docker.ps"], true);
  assert.equal(equipped(), "dev");
  const names = toolsets.registered(toolsets.equippedBy(EVERYONE)!).map(({ name }) => name);
  assert.deepEqual(names, ["ps"]);
  assert.deepEqual(changes.map(({ principals }) => [...principals]), [[EVERYONE]]);
});

test("Toolsets keeps what principals have equipped apart", async (store) => {
  const { toolsets, build, equipped, changes } = toolsetsOn(store);
  await build("dev", ["git.*"]);
  await build("ops", ["docker.ps"]);
  await toolsets.equip("A", "dev");
  assert.deepEqual([equipped("A"), equipped("B"), equipped()], ["dev", undefined, undefined]);
  changes.length = 0;
  await toolsets.equip("B", "ops");
  assert.deepEqual(changes.map(({ principals }) => [...principals]), [["B"]]);
  assert.equal(await toolsets.unequip("B"), "ops");
  assert.deepEqual([equipped("A"), equipped("B")], ["dev", undefined]);
});

test("Toolsets of a new process have what was equipped before", async (store) => {
  const before = toolsetsOn(store);
  await before.build("dev", ["git.*"]);
  await before.toolsets.equip(EVERYONE, "dev");
  const after = toolsetsOn(store);
  assert.equal(after.equipped(), undefined);
  await after.toolsets.load();
  assert.equal(after.equipped(), "dev");
  assert.deepEqual(after.toolsets.list(), before.toolsets.list());
});

test("Toolsets of two gateways agree after load(), and change what the other has made", async (store) => {
  const [one, other] = [toolsetsOn(store), toolsetsOn(store)];
  await one.build("dev", ["git.*"]);
  await other.toolsets.equip(EVERYONE, "dev");
  assert.equal(one.equipped(), undefined);
  await one.toolsets.load();
  assert.equal(one.equipped(), "dev");
  assert.deepEqual([...one.changes.at(-1)!.principals], [EVERYONE]);
  await other.build("ops", ["docker.ps"]);
  await one.toolsets.equip(EVERYONE, "ops");
  assert.equal(await other.toolsets.unequip(EVERYONE), "ops", "not what it last heard of");
  await one.toolsets.remove("dev");
  await one.toolsets.load();
  await other.toolsets.load();
  assert.deepEqual(one.toolsets.list(), other.toolsets.list());
  assert.deepEqual([one.equipped(), other.equipped()], [undefined, undefined]);
  const silent = one.changes.length;
  await one.toolsets.load();
  assert.equal(one.changes.length, silent);
});

test("Toolsets.save() of one name by many at once loses none of what it says is saved", async (store) => {
  const [one, other] = [toolsetsOn(store), toolsetsOn(store)];
  const created = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).build("dev", ["git.log"])),
  );
  assert.equal(created.filter(({ status }) => status === "fulfilled").length, 1);
  const replaced = await Promise.all(
    Array.from({ length: 40 }, (_, index) => {
      const { toolsets } = index % 2 ? one : other;
      const tools = toolsets.choose(["git.status"]);
      return toolsets.save({ name: "dev", description: String(index), tools, replace: true });
    }),
  );
  await one.toolsets.load();
  const last = one.toolsets.find("dev");
  assert.ok(replaced.some((toolset) => toolset.description === last?.description));
  assert.equal(new Set(replaced.map(({ id }) => id)).size, 1);
});

test("Toolsets tells once of servers that are away, and that they are back", async (store) => {
  const { toolsets, build, away, news, catalog } = toolsetsOn(store);
  await build("dev", ["git.status", "docker.ps"]);
  away.add("git");
  toolsets.recheck();
  assert.deepEqual(news, []);
  const dev = await toolsets.equip(EVERYONE, "dev");
  toolsets.recheck();
  await toolsets.load();
  assert.deepEqual(news.splice(0), ["git server unavailable, skipping tools: git.status"]);
  assert.deepEqual(toolsets.registered(dev).map(({ name }) => name), ["ps"]);
  away.delete("git");
  toolsets.recheck();
  toolsets.recheck();
  assert.deepEqual(news.splice(0), ["git server reconnected, registering tools: git_status"]);
  assert.deepEqual(toolsets.registered(dev).map(({ name }) => name), ["status", "ps"]);
  catalog.setListed("git", [listed("log")]);
  assert.deepEqual(toolsets.tools(dev).map(({ state }) => state), ["gone", "registered"]);
});

test("Toolsets.load() tells what is different, and keeps the objects that are not", async (store) => {
  const repository = new ToolsetsRepository(store);
  const { toolsets, changes } = toolsetsOn(store);
  const loaded = async () => {
    await toolsets.load();
    return changes.splice(0).map((change) => [[...change.toolsets], [...change.principals]]);
  };
  const [dev, ops] = [toolsetOf("dev", ["git.status"]), toolsetOf("ops", ["docker.ps"])];
  assert.deepEqual(await loaded(), []);

  await repository.save(dev, null);
  const versionstamp = await repository.save(ops, null);
  assert.deepEqual(await loaded(), [[["dev", "ops"], []]]);
  const known = toolsets.find("dev");

  assert.ok(await repository.equip("A", { value: ops, versionstamp }, undefined, 1));
  assert.deepEqual(await loaded(), [[[], ["A"]]]);
  assert.equal(toolsets.equippedBy("A"), toolsets.find("ops"));
  assert.equal(toolsets.equippedBy("B"), undefined);

  await repository.save({ ...ops, updatedAt: 2 }, versionstamp);
  assert.deepEqual(await loaded(), [[["ops"], ["A"]]]);
  assert.equal(toolsets.equippedBy("A")?.updatedAt, 2);
  assert.equal(toolsets.find("dev"), known);

  await repository.delete("ops");
  assert.deepEqual(await loaded(), [[["ops"], ["A"]]]);
  assert.equal(toolsets.equippedBy("A"), undefined);
  assert.deepEqual(await loaded(), []);
});

test("Toolsets.load() never takes up what was read earlier after what was read later", async (store) => {
  const repository = new ToolsetsRepository(store);
  const { toolsets, changes } = toolsetsOn(store);
  const loads = [];
  for (let index = 0; index < 20; index++) {
    await repository.save(toolsetOf(`t${index}`, ["git.status"]), null);
    loads.push(toolsets.load());
  }
  await Promise.all(loads);
  assert.equal(toolsets.list().length, 20);
  const names = changes.flatMap((change) => [...change.toolsets]);
  assert.equal(names.length, 20, "each was new once");
});
