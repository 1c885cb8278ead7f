import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/types"
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { at, connect, type EndpointClient, Endpoints, must, tool } from "./combined_endpoints.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { until } from "./gateway.ts";

const LONG = "a_tool_whose_name_is_so_long_that_no_client_would_take_it_with_a_prefix";
const ALIKE = `${LONG}_either`;

/** The JSON-RPC error of a call, as data. */
async function refused(client: EndpointClient, name: string) {
  const error = await client.call(name).then(() => undefined, (error) => error);
  assert.ok(error instanceof McpError, `${name} was not refused as a request`);
  const data = z.looseObject({
    errorType: z.string(),
    suggestedTools: z.array(z.string()).default([]),
  }).parse(error.data);
  return { ...data, code: error.code };
}

Deno.test("/mcp: names that clash, are reserved or too long all lead to their own tool", async (t) => {
  await using git = new ScriptedServer([
    ...["hub_x", "status", LONG, ALIKE, "off"].map((name) => tool(name)),
  ]);
  await using hub = new ScriptedServer([tool("x"), tool("status")]);
  await using equip = new ScriptedServer([tool("toolset"), tool("equip-toolset")]);
  const entries = { git: at(git), git_hub: at(hub), equip: at(equip) };
  await using endpoints = await Endpoints.open(entries);
  await endpoints.build("everything", ["git.*", "git_hub.*", "equip.*"]);
  await using client = await connect(endpoints.url, "/mcp");
  const listed = async () => (await client.client.listTools()).tools.map(({ name }) => name);
  await must(client, "equip-toolset", { name: "everything" });
  const called = (server: ScriptedServer) => server.calls.map((text) => JSON.parse(text).name);
  const forget = () => {
    for (const { calls } of [git, hub, equip]) calls.length = 0;
  };

  await t.step("all are listed once, none longer than clients take", async () => {
    const names = await listed();
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.every((name) => /^[\w-]{1,60}$/.test(name)), names.join(" "));
    const rest = await client.tools();
    assert.equal(rest.length, 9, rest.join(" "));
    assert.equal(names.filter((name) => name === "equip-toolset").length, 1);
  });

  await t.step("two that flatten to the same name keep apart, and the log names both", async () => {
    const clashing = (await client.tools()).filter((name) => name.startsWith("git_hub_x"));
    assert.equal(clashing.length, 2);
    assert.ok(clashing.includes("git_hub_x"), "one keeps the plain name");
    forget();
    for (const name of clashing) await must(client, name);
    assert.deepEqual([called(git), called(hub)], [["hub_x"], ["x"]]);
    const line = await endpoints.logged(/.*"owners":\["git.hub_x","git_hub.x"\].*/);
    assert.match(line, /git_hub_x/);
  });

  await t.step(
    "one that is called like a tool of the gateway's own is called otherwise",
    async () => {
      const renamed = (await client.tools()).filter((name) => name.startsWith("equip_toolset"));
      assert.equal(renamed.length, 1);
      assert.notEqual(renamed[0], "equip_toolset");
      forget();
      await must(client, renamed[0]!);
      await must(client, "equip.equip-toolset");
      assert.match(await must(client, "equip-toolset", { name: "everything" }), /^Equipped/);
      assert.match(await must(client, "equip_toolset", { name: "everything" }), /^Equipped/);
      assert.deepEqual(called(equip), ["toolset", "equip-toolset"]);
      await endpoints.logged(/.*"owners":\["quartermaster","equip.toolset"\].*/);
    },
  );

  await t.step(
    "one that is too long is cut where it is listed, and callable by any name",
    async () => {
      const cut = (await client.tools()).filter((name) => name.startsWith("git_a_tool"));
      assert.deepEqual(cut.map(({ length }) => length), [60, 60]);
      forget();
      for (const name of cut) await must(client, name);
      assert.deepEqual(called(git).sort(), [LONG, ALIKE]);
      forget();
      for (const name of [`git.${LONG}`, `git:${LONG}`, LONG]) await must(client, name);
      assert.deepEqual(called(git), [LONG, LONG, LONG]);
      const line = await endpoints.logged(
        new RegExp(`.*"owners":\\["git.${LONG}","git.${ALIKE}"\\].*`),
      );
      assert.match(line, /too long/);
    },
  );

  await t.step("an original name is enough where just one server has it", async () => {
    forget();
    await must(client, "x");
    assert.deepEqual(called(hub), ["x"]);
    const { errorType, suggestedTools } = await refused(client, "status");
    assert.equal(errorType, "TOOL_NOT_FOUND");
    assert.deepEqual(suggestedTools.sort(), ["git_hub_status", "git_status", "tool_discovery"]);
  });

  await t.step("names are the same after a restart", async () => {
    const before = await listed();
    await endpoints.restart("SIGTERM");
    await using again = await connect(endpoints.url, "/mcp");
    assert.deepEqual((await again.client.listTools()).tools.map(({ name }) => name), before);
  });
});

Deno.test("/mcp: what is not listed can be called; what is disabled or unknown says so", async (t) => {
  await using git = new ScriptedServer([tool("status"), tool("log"), tool("off")]);
  await using endpoints = await Endpoints.open({ git: at(git) });
  await endpoints.build("one", ["git.status", "git.off"]);
  await using client = await connect(endpoints.url, "/mcp");
  await must(client, "equip-toolset", { name: "one" });
  await using admin = await connect(endpoints.url, "/gateway/mcp");
  await must(admin, "set_enabled_tools", { server: "git", tools: ["status", "log"] });

  await t.step("hidden and enabled", async () => {
    assert.deepEqual(await client.tools(), ["git_status"]);
    for (const name of ["git_log", "git.log", "log"]) {
      assert.equal(await must(client, name), "called log");
    }
  });

  await t.step("disabled", async () => {
    for (const name of ["git_off", "git.off", "off"]) {
      const { isError, data, text } = await client.call(name);
      assert.equal(isError, true);
      assert.equal(data.errorType, "TOOL_DISABLED");
      assert.match(text, /What to do:/);
    }
    assert.ok(!git.calls.some((text) => JSON.parse(text).name === "off"));
  });

  await t.step("unknown", async () => {
    const { code, errorType, suggestedTools } = await refused(client, "git_stats");
    assert.equal(code, -32602);
    assert.equal(errorType, "TOOL_NOT_FOUND");
    assert.equal(suggestedTools[0], "git_status");
    const builtin = await refused(client, "equip-tolset");
    assert.equal(builtin.suggestedTools[0], "equip-toolset");
    assert.ok(!(await refused(client, "git_of")).suggestedTools.includes("git_off"));
  });
});

Deno.test("/mcp: prompts whose names clash are told in the log once, and in the console while they do", async () => {
  await using git = new ScriptedServer([tool("status")]);
  await using hub = new ScriptedServer([tool("search")]);
  const offer = (server: ScriptedServer, ...names: string[]) => {
    server.capabilities = { prompts: {} };
    server.scripts.set("prompts/list", () => ({ prompts: names.map((name) => ({ name })) }));
  };
  offer(git, "hub_x", "say-it", "say_it", "alone");
  offer(hub, "x");
  await using endpoints = await Endpoints.open({ git: at(git), git_hub: at(hub) });
  await using client = await connect(endpoints.url, "/mcp?expose=all");
  const list = async () => (await client.client.listPrompts()).prompts.map(({ name }) => name);
  const page = async () => await (await fetch(`${endpoints.url}/tools`)).text();
  assert.doesNotMatch(await page(), /Name collisions/);

  const names = await list();
  assert.equal(new Set(names).size, 5, names.join(" "));
  await list();
  const pairs = [["git.hub_x", "git_hub.x"], ["git.say-it", "git.say_it"]];
  for (const owners of pairs) {
    const line = await endpoints.logged(new RegExp(`.*${RegExp.escape(JSON.stringify(owners))}.*`));
    assert.match(line, new RegExp(`The prompt .*${owners[1]}.* is listed as .*_[0-9a-f]{6}: `));
  }
  const told = endpoints.faulty.gateway.log().match(/"owners":/g);
  assert.equal(told?.length, pairs.length, "once each, and nobody else");

  const shown = await page();
  assert.match(shown, /Name collisions.*2 prompts/s);
  for (const owner of pairs.flat()) assert.ok(shown.includes(`>${owner}<`), owner);

  await endpoints.faulty.configure({ git: at(git), git_hub: { ...at(hub), disabled: true } });
  await until(async () => (await page()).includes(">git_hub.x<") ? undefined : true);
  assert.match(await page(), />git\.say_it</);
  offer(git, "alone");
  assert.deepEqual(await list(), ["git_alone"]);
  assert.doesNotMatch(await page(), /Name collisions/);
});
