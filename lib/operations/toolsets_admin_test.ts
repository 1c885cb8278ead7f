import { TOOLSET_OPERATIONS } from "./toolsets.ts";
import type { ToolsetsAdmin } from "./toolsets_admin.ts";
import assert from "node:assert/strict";
import { EVERYONE } from "../core/access.ts";
import { Store } from "../storage/store.ts";
import { failure } from "../storage/testing/failures.ts";
import { openToolsets } from "../mcp/testing/open_toolsets.ts";

function test(name: string, run: (store: Store) => Promise<void>): void {
  Deno.test(name, async () => {
    await using store = await Store.open({ location: ":memory:" });
    await run(store);
  });
}

const MANY = Array.from({ length: 250 }, (_, index) => `tool_${index}`);

/** A tool with one parameter, as its server lists it. */
function withParameter(type: string): string {
  const properties = { path: { type } };
  return JSON.stringify({ name: "status", inputSchema: { type: "object", properties } });
}

test("ToolsetsAdmin.build() saves nothing where a tool cannot be found", async (store) => {
  const { admin, toolsets } = openToolsets(store, { git: ["status"] });
  const tools = ["git.status", { namespacedName: "git.statsu" }];
  const error = await failure(admin.build({ name: "dev", tools }), "TOOL_NOT_FOUND");
  assert.equal(error.details.hint, "Did you mean git.status?");
  await toolsets.load();
  assert.deepEqual(toolsets.list(), []);
});

test("ToolsetsAdmin.summary() adds up what the tools cost, and warns of too many", async (store) => {
  const { admin, away } = openToolsets(store, { git: ["status"], big: MANY });
  const small = await admin.summary(await admin.build({ name: "one", tools: ["git.status"] }));
  assert.deepEqual([small.toolCount, small.registered, small.warnings], [1, 1, []]);
  assert.ok(small.tokens > 10);
  const toolset = await admin.build({ name: "all", tools: ["git.*", "big.*"] });
  away.add("big");
  const large = await admin.summary(toolset, 10);
  assert.deepEqual([large.toolCount, large.registered], [251, 1]);
  assert.ok(large.tokens > 250 * 10, "those that wait are known, and count");
  assert.match(large.warnings[0] ?? "", /^\/mcp would list 261 tools, 10 of them/);
});

test("ToolsetsAdmin.detail() says whether calls go on to work with a tool that changed", async (store) => {
  const { admin, catalog, canonical } = openToolsets(store, {});
  const see = (type: string, now: number) =>
    canonical.record("git", catalog.setListed("git", [withParameter(type)]), now);
  await see("string", 1);
  const toolset = await admin.build({ name: "dev", tools: ["git.status"] });
  assert.equal((await admin.detail(toolset)).tools[0]?.change, undefined);
  await see("number", 2);
  const [breaking] = (await admin.detail(toolset)).tools;
  assert.equal(breaking?.state, "registered");
  assert.equal(breaking.change?.compatibility, "breaking");
  assert.deepEqual([breaking.change.savedVersion, breaking.change.currentVersion], [1, 2]);
  assert.match(breaking.note ?? "", /^changed since it was saved: calls may break: .*path/);
});

test("ToolsetsAdmin.discover() goes page by page, and by words", (store) => {
  const { admin, catalog } = openToolsets(store, { big: MANY, git: ["status", "log"] });
  catalog.setEnabled("git", ["status"]);
  const text = (admin: ToolsetsAdmin, input: { page: number; server?: string }) =>
    TOOLSET_OPERATIONS.discover.text!(admin.discover(input, EVERYONE), input);
  assert.match(
    text(admin, { page: 1 }),
    /^251 tools, page 1 of 3\nbig:\n- big\.tool_0: Does tool_0\n/,
  );
  const pages = [1, 2, 3].map((page) => admin.discover({ page }, EVERYONE).servers);
  const all = pages.flat().flatMap(({ tools }) =>
    tools.map(({ namespacedName }) => namespacedName)
  );
  assert.equal(new Set(all).size, 251);
  assert.ok(!all.includes("git.log"), "disabled tools are not shown");
  assert.equal(text(admin, { page: 4 }), "There are only 3 pages.");
  assert.equal(admin.discover({ filter: " does  STATUS", page: 1 }, EVERYONE).total, 1);
  assert.match(text(admin, { server: "gti", page: 1 }), /^No tool matches/);
  assert.match(text(openToolsets(store, {}).admin, { page: 1 }), /no server is connected/);
  return Promise.resolve();
});

test("ToolsetsAdmin.discover() keeps a long description to one short line", (store) => {
  const { admin, catalog } = openToolsets(store, {});
  const description = `${"😀".repeat(200)}\nsecond line`;
  catalog.setListed("git", [
    JSON.stringify({ name: "x", description, inputSchema: { type: "object" } }),
  ]);
  const [server] = admin.discover({ page: 1 }, EVERYONE).servers;
  const text = server?.tools[0]?.summary ?? "";
  assert.ok(text.isWellFormed() && text.length < 140 && text.endsWith("…"), text);
  return Promise.resolve();
});

test("ToolsetsAdmin.import() saves what export() gave, and leaves a name that is taken alone", async (store) => {
  const { admin, toolsets } = openToolsets(store, { git: ["status", "log"] });
  await admin.build({ name: "dev", description: "For work", tools: ["git.*"] });
  await admin.build({ name: "ops", tools: ["git.log"] });
  const file = JSON.parse(JSON.stringify(await admin.export(admin.visible(EVERYONE))));
  const contents = () => toolsets.list().map(({ name, tools }) => ({ name, tools }));
  const before = contents();
  await toolsets.remove("ops");
  await admin.build({ name: "dev", tools: ["git.log"], replace: true });

  const report = await admin.import(file);
  assert.deepEqual(report.saved, ["ops"]);
  assert.equal(report.toolsets[0]?.problem, 'Toolset "dev" already exists');
  assert.equal(toolsets.find("dev")?.tools.length, 1);

  assert.deepEqual((await admin.import(file, { replace: true })).saved, ["dev", "ops"]);
  assert.deepEqual(contents(), before);
  const ops = admin.resolveVisible(EVERYONE, "ops");
  assert.deepEqual((await admin.export([ops])).toolsets.map(({ name }) => name), ["ops"]);
  assert.throws(() => admin.resolveVisible(EVERYONE, "nope"), { code: "NOT_FOUND" });
});

test("ToolsetsAdmin.import() reports what it did not find, and saves the rest", async (store) => {
  const { admin, toolsets } = openToolsets(store, { git: ["status"] });
  const report = await admin.import([
    { name: "my tools", tools: ["git.statsu", "later.x"] },
    { name: "empty", tools: ["nothing"] },
  ]);
  assert.deepEqual(report.saved, ["my-tools"]);
  const [mine, empty] = report.toolsets;
  assert.equal(mine?.wasNamed, "my tools");
  assert.deepEqual(mine.unmatched.map(({ nearest }) => nearest), [["git.status"], []]);
  assert.equal(empty?.problem, "A toolset needs at least one tool");
  assert.deepEqual(toolsets.tools(toolsets.resolve("my-tools")).map(({ state }) => state), [
    "gone",
    "gone",
  ]);
});

test("ToolsetsAdmin shows and builds from what exists for the caller", async (store) => {
  const servers = { git: ["status", "push"] };
  const { admin } = openToolsets(
    store,
    servers,
    (who, { name }) => who === "Ada" || name !== "push",
  );
  const total = (who: string) => admin.discover({ page: 1 }, who).total;
  assert.deepEqual([total("Ada"), total("Bob")], [2, 1]);
  await failure(admin.build({ name: "dev", tools: ["git.push"] }, "Bob"), "TOOL_NOT_FOUND");
  assert.equal((await admin.build({ name: "bobs", tools: ["git.*"] }, "Bob")).tools.length, 1);
  assert.equal((await admin.build({ name: "adas", tools: ["git.*"] }, "Ada")).tools.length, 2);
});
