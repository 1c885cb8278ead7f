import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/access.ts";
import { TokenCounter } from "../core/token_counter.ts";
import { Store } from "../storage/store.ts";
import { failure } from "../storage/testing/failures.ts";
import { describeBuiltin } from "../mcp/builtin_tool.ts";
import { openToolsets } from "../mcp/testing/open_toolsets.ts";
import { operationTools } from "./mcp.ts";
import { runOperation } from "./operation.ts";
import { callBy, servicesOf } from "./testing/services.ts";
import { TOOLSET_OPERATIONS } from "./toolsets.ts";

const ENDPOINTS = { countBuiltins: () => Promise.resolve(10) };

/** What a client pays for the toolset tools before it has asked for anything. */
const MOST_TOKENS = 900;

function toolsOn(store: Store) {
  const opened = openToolsets(store, { git: ["status", "log"], docker: ["ps"] });
  const tools = operationTools(
    Object.values(TOOLSET_OPERATIONS),
    servicesOf({ toolsets: opened.admin, endpoints: ENDPOINTS }),
  );
  return {
    ...opened,
    tools,
    async call(name: string, args: Record<string, unknown> = {}, principal: string = EVERYONE) {
      const tool = tools.find((tool) => tool.name === name)!;
      const context = {
        signal: new AbortController().signal,
        principal,
        from: () => "a test",
      };
      const done = await tool.run(tool.input.parse(args), context);
      assert.ok("text" in done);
      return done;
    },
  };
}

function test(name: string, run: (store: Store) => Promise<void>): void {
  Deno.test(name, async () => {
    await using store = await Store.open({ location: ":memory:" });
    await run(store);
  });
}

test("the toolset tools are seven, and cost little where they are listed", async (store) => {
  const { tools } = toolsOn(store);
  assert.deepEqual(tools.map(({ name }) => name), [
    "list-saved-toolsets",
    "get-active-toolset",
    "discover-all-tools",
    "build-toolset",
    "equip-toolset",
    "unequip-toolset",
    "delete-toolset",
  ]);
  using counter = new TokenCounter();
  const listed = JSON.stringify({ tools: tools.map((tool) => describeBuiltin(tool, EVERYONE)) });
  const [tokens = 0] = await counter.count([listed]);
  assert.ok(tokens > 100, "nothing was counted");
  assert.ok(tokens <= MOST_TOKENS, `${tokens} tokens`);
});

test("build-toolset saves tools by any name, and equips where told", async (store) => {
  const { call } = toolsOn(store);
  const tools = ["git.*", { namespacedName: "docker.ps" }];
  const built = await call("build-toolset", { name: "dev", description: "For work", tools });
  assert.match(built.text, /^Saved toolset "dev": 3 tools, about \d+ tokens\.\nEquip it with/);
  assert.equal(built.data.equipped, false);
  assert.match((await call("get-active-toolset")).text, /No toolset is equipped/);
  const again = await call("build-toolset", {
    name: "dev",
    tools: ["git_log"],
    autoEquip: true,
    replace: true,
  });
  assert.match(again.text, /^Saved toolset "dev": 1 tool, .* It is equipped\.$/);
  const { text } = await call("list-saved-toolsets");
  assert.match(text, /^dev \(equipped\): 1 tool, about \d+ tokens\. For work$/);
});

test("build-toolset that cannot equip says that the toolset is saved", async (store) => {
  const { call, toolsets } = toolsOn(store);
  await call("build-toolset", { name: "dev", tools: ["git.*"] });
  toolsets.equip = () =>
    Promise.reject(new GatewayError("OPERATION_IN_PROGRESS", { message: "please wait" }));
  const error = await failure(
    call("build-toolset", { name: "ops", tools: ["docker.ps"], autoEquip: true }),
    "OPERATION_IN_PROGRESS",
  );
  assert.equal(error.message, 'Saved toolset "ops", but could not equip it: please wait');
  assert.equal(toolsets.find("ops")?.tools.length, 1);
});

test("equip-toolset names what is registered, and warns of what is not", async (store) => {
  const { call, away, catalog } = toolsOn(store);
  await call("build-toolset", { name: "dev", tools: ["git.*", "docker.ps"] });
  const equipped = await call("equip-toolset", { name: "dev" });
  assert.equal(equipped.text, 'Equipped "dev". 3 tools registered: git_status, git_log, docker_ps');
  away.add("git");
  catalog.setEnabled("docker", []);
  const partly = await call("equip-toolset", { name: "dev" });
  assert.deepEqual(partly.text.split("\n"), [
    'Equipped "dev". 0 tools registered: none',
    "⚠️ Warning: git server unavailable, skipping tools: git.status, git.log",
    "⚠️ Warning: disabled: docker.ps",
  ]);
  assert.deepEqual(partly.data.registered, []);
});

test("unequip-toolset says what it was, of one principal alone", async (store) => {
  const { call } = toolsOn(store);
  await call("build-toolset", { name: "dev", tools: ["git.*"] });
  await call("equip-toolset", { name: "dev" }, "A");
  assert.equal((await call("unequip-toolset", {}, "B")).text, "No toolset was equipped.");
  const done = await call("unequip-toolset", {}, "A");
  assert.equal(done.text, 'Unequipped "dev".');
  assert.deepEqual(done.data, { unequipped: "dev" });
});

test("delete-toolset wants to be sure", async (store) => {
  const { call, toolsets } = toolsOn(store);
  await call("build-toolset", { name: "dev", tools: ["git.*"] });
  const unsure = await failure(call("delete-toolset", { name: "dev" }), "INVALID_ARGUMENTS");
  assert.match(unsure.message, /^Not confirmed: Delete toolset "dev"\? This cannot be undone/);
  assert.ok(toolsets.find("dev"));
  await call("delete-toolset", { name: "dev", confirm: true });
  assert.equal(toolsets.find("dev"), undefined);
  await failure(call("delete-toolset", { name: "dev", confirm: true }), "NOT_FOUND");
});

test("delete-toolset and equip-toolset know what another gateway has just saved", async (store) => {
  const [one, other] = [toolsOn(store), toolsOn(store)];
  await one.call("build-toolset", { name: "dev", tools: ["git.*"] });
  await other.call("equip-toolset", { name: "dev" });
  await one.call("build-toolset", { name: "ops", tools: ["git.*"] });
  await other.call("delete-toolset", { name: "ops", confirm: true });
  assert.deepEqual(other.toolsets.list().map(({ name }) => name), ["dev"]);
});

test("get-active-toolset shows the state of each tool", async (store) => {
  const { call, catalog, away } = toolsOn(store);
  const none = await call("get-active-toolset");
  assert.deepEqual(none.data, { toolset: null, tools: [] });
  await call("build-toolset", { name: "dev", tools: ["git.*", "docker.ps"], autoEquip: true });
  catalog.setListed("git", [JSON.stringify({ name: "log", inputSchema: { type: "object" } })]);
  away.add("docker");
  const { text, data } = await call("get-active-toolset");
  const [head, ...lines] = text.split("\n");
  assert.match(head!, /^"dev" is equipped: 1 of 3 tools registered, about \d+ tokens\.$/);
  assert.deepEqual(lines, [
    "- git.status: gone (its server no longer has it)",
    "- git.log: registered as git_log (changed since it was saved: the effect is unknown)",
    "- docker.ps: waiting (its server is not ready; it is added when the server is ready)",
    "⚠️ Warning: no longer available: git.status",
  ]);
  assert.equal(Array.isArray(data.tools) && data.tools.length, 3);
});

test("discover-all-tools lists every tool, whatever is equipped", async (store) => {
  const { call } = toolsOn(store);
  await call("build-toolset", { name: "dev", tools: ["git.log"], autoEquip: true });
  const { text, data } = await call("discover-all-tools");
  assert.deepEqual(text.split("\n"), [
    "3 tools",
    "docker:",
    "- docker.ps: Does ps",
    "git:",
    "- git.status: Does status",
    "- git.log: Does log",
  ]);
  assert.equal(data.total, 3);
  const some = await call("discover-all-tools", { filter: "DOES git", server: "git" });
  assert.equal(some.data.total, 2);
});

test("a toolset is exported, copied and hinted at only as far as the caller sees it", async (store) => {
  const opened = openToolsets(
    store,
    { git: ["status"], vault: ["read"] },
    (principal, { server }) => principal === EVERYONE || server === "git",
  );
  const services = servicesOf({ toolsets: opened.admin, endpoints: ENDPOINTS });
  await opened.admin.build({ name: "ops", tools: ["git.status", "vault.read"] });
  await opened.admin.build({ name: "hidden", tools: ["vault.read"] });
  const { exportFile, create, show } = TOOLSET_OPERATIONS;
  const call = callBy("token:narrow");
  const { body } = await runOperation(exportFile, services, {}, call);
  const text = await new Response(body).text();
  assert.match(text, /git/);
  assert.doesNotMatch(text, /vault|hidden/);
  const copy = { name: "mine", copyOf: "ops", tools: ["vault.read"] };
  await failure(runOperation(create, services, copy, call), "TOOL_NOT_FOUND");
  await failure(runOperation(show, services, { name: "nope" }, call), "NOT_FOUND");
});
