import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/access.ts";
import type { ServerState, ServerStatus } from "../core/server.ts";
import type { ServerPool } from "../servers/pool.ts";
import { Catalog } from "../catalog/catalog.ts";
import { Store } from "../storage/store.ts";
import { discoveryTools } from "./discovery_tools.ts";
import { indexTools } from "./index_tools.ts";
import { optimizerTools } from "./optimizer_tools.ts";
import { StartingServers, stillStarting } from "./starting_servers.ts";
import { openDirectory, run, runAny } from "./testing/open_directory.ts";
import { openToolsets } from "./testing/open_toolsets.ts";
import { operationTools } from "../operations/mcp.ts";
import { servicesOf } from "../operations/testing/services.ts";
import { TOOLSET_OPERATIONS } from "../operations/toolsets.ts";

function status(name: string, state: ServerState = "starting"): ServerStatus {
  return {
    ...{ name, state, type: "stdio", source: { kind: "store" } },
    ...{ reason: "Starting", since: 0, toolCount: 0 },
  };
}

function isStarting(server: string) {
  return (error: unknown) =>
    error instanceof GatewayError && error.code === "SERVER_STARTING" &&
    error.message.includes(`"${server}"`) &&
    error.toBody().recoverySteps[0] === "Try again in a moment";
}

Deno.test("StartingServers.await() waits for the server a name may belong to, and tries again", async () => {
  const catalog = new Catalog();
  const waited: string[] = [];
  let state: ServerState = "starting";
  let refusal: Error | undefined;
  const starting = new StartingServers({
    catalog,
    pool: {
      list: () => [status("slow", state)],
      find: (name: string) => ({
        connection() {
          waited.push(name);
          if (refusal) return Promise.reject(refusal);
          state = "ready";
          return Promise.resolve();
        },
      }),
    } as unknown as ServerPool,
    admits: (principal) => principal === EVERYONE,
  });
  const find = () => {
    if (state === "ready") return "found";
    throw new GatewayError("SERVER_STARTING");
  };
  refusal = new GatewayError("SERVER_DISCONNECTED");
  await assert.rejects(starting.await(EVERYONE, "slow.ps", find, undefined), refusal);
  refusal = undefined;
  assert.equal(await starting.await(EVERYONE, "slow.ps", find, undefined), "found");
  assert.equal(await starting.await(EVERYONE, "slow.ps", find, undefined), "found");
  assert.deepEqual(waited, ["slow", "slow"]);
  state = "starting";
  await assert.rejects(starting.await("a stranger", "slow.ps", find, undefined), GatewayError);
  assert.equal(waited.length, 2, "what does not exist for a caller is not waited for");
});

Deno.test("lists of tools say which servers are still starting, to those who may see them", async () => {
  await using opened = await openDirectory({
    servers: { git: [{ name: "log", description: "Shows commits" }] },
    hidden: ["safe.*"],
    away: { slow: "starting", jira: "installing", safe: "starting", off: "disabled" },
  });
  const { directory } = opened;
  const lists = [
    await run(discoveryTools(directory), "tool_discovery", { query: "commits" }),
    await run(discoveryTools(directory), "tool_capabilities"),
    await run(indexTools(directory), "list_available_tools"),
    await run(optimizerTools(directory), "optim.find_tool", { tool_description: "commits" }),
  ];
  for (const list of lists) {
    assert.deepEqual(list.starting, ["slow", "jira"]);
    assert.equal(
      list.note,
      "2 servers are still starting (slow, jira): their tools are not included yet",
    );
  }
  const { servers } = lists[1] as { servers: { name: string; status: string }[] };
  const states = servers.map(({ name, status }) => `${name} ${status}`);
  assert.deepEqual(states, ["git running", "slow starting", "jira starting", "off stopped"]);
  const whole = await run(indexTools(directory), "list_available_tools", {}, "owner");
  assert.deepEqual(whole.starting, ["slow", "jira", "safe"]);

  opened.list("slow", [{ name: "ps" }]);
  const some = await run(indexTools(directory), "list_available_tools");
  assert.deepEqual(some.starting, ["jira"], "the tools of slow are known from the last run");
  opened.list("jira", [{ name: "issues" }]);
  const all = await run(indexTools(directory), "list_available_tools");
  assert.deepEqual(Object.keys(all), ["total", "categories", "tools"]);
});

Deno.test("tools of a starting server are not reported as missing", async () => {
  await using opened = await openDirectory({ servers: {}, away: { slow: "starting" } });
  const { directory } = opened;
  const calls: [Parameters<typeof runAny>[0], string, Record<string, unknown>][] = [
    [discoveryTools(directory), "tool_execute", { toolKey: "slow:ps" }],
    [discoveryTools(directory), "tool_execute", { toolKey: "slow_ps" }],
    [indexTools(directory), "get_tool_description", { tool_name: "slow.ps" }],
    [optimizerTools(directory), "optim.call_tool", {
      ...{ backend_id: "slow", tool_name: "ps", parameters: {} },
    }],
  ];
  for (const [tools, name, args] of calls) {
    await assert.rejects(runAny(tools, name, args), isStarting("slow"), name);
  }
  const { hint } = await run(discoveryTools(directory), "tool_discovery", { query: "anything" });
  assert.match(String(hint), /search again in a moment/);
});

Deno.test("tools of a server that is down and has listed none are not said to be missing, to those who may see it", async () => {
  await using opened = await openDirectory({
    servers: { git: [{ name: "log" }] },
    hidden: ["safe.*"],
    away: {
      ...{ broken: "failed", still: "paused", out: "needs_login", off: "disabled" },
      safe: "failed",
    },
  });
  const tools = discoveryTools(opened.directory);
  const codes = ["broken.x", "still_x", "out:x", "off.x", "safe.x"].map(async (toolKey) => {
    const error = await runAny(tools, "tool_execute", { toolKey }).catch((error) => error);
    return `${toolKey} ${error.code}`;
  });
  assert.deepEqual(await Promise.all(codes), [
    "broken.x SERVER_DISCONNECTED",
    "still_x SERVER_NOT_RUNNING",
    "out:x SERVER_DISCONNECTED",
    "off.x TOOL_NOT_FOUND",
    "safe.x SERVER_NOT_FOUND",
  ]);
});

Deno.test("toolsets of a server that is starting are not built, but equipped", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { admin, toolsets, coming, catalog } = openToolsets(store, { git: ["status"], slow: [] });
  const tools = operationTools(Object.values(TOOLSET_OPERATIONS), servicesOf({ toolsets: admin }));
  const build = (...names: string[]) =>
    runAny(tools, "build-toolset", { name: "dev", tools: names });
  coming.push(status("slow"));
  await assert.rejects(build("git.status", "slow.ps"), isStarting("slow"));
  await assert.rejects(build("slow.*"), isStarting("slow"));
  await assert.rejects(build("slow.ps", "git.sttus"), /There is no tool "git.sttus"/);
  const listed = await runAny(tools, "discover-all-tools");
  assert.ok("data" in listed);
  assert.deepEqual(listed.data.starting, ["slow"]);
  assert.match(listed.text, /^1 tool\n1 server is still starting \(slow\): its tools are not inc/);

  const none = await runAny(tools, "discover-all-tools", { server: "slow" });
  assert.ok("data" in none);
  assert.match(none.text, /^No tools to show yet: try again in a moment\.\n1 server is still/);

  await toolsets.save({
    name: "dev",
    tools: [{ server: "git", tool: "status" }, { server: "slow", tool: "ps" }],
  });
  const equipped = await runAny(tools, "equip-toolset", { name: "dev" });
  assert.ok("data" in equipped);
  assert.deepEqual(equipped.data.starting, ["slow"]);
  assert.match(
    equipped.text,
    /Warning: slow server is still starting \(SERVER_STARTING\); .*slow.ps/,
  );

  catalog.setListed("slow", [JSON.stringify({ name: "ps", inputSchema: { type: "object" } })]);
  const again = await runAny(tools, "equip-toolset", { name: "dev" });
  assert.ok("data" in again);
  assert.deepEqual(again.data, {
    equipped: "dev",
    toolCount: 2,
    registered: ["git_status", "slow_ps"],
  });
});

Deno.test("stillStarting() names few, and counts many", () => {
  assert.match(stillStarting(["git"]), /^1 server is still starting \(git\): its tools/);
  assert.match(stillStarting([..."abcdef"]), /^6 servers are still starting: their tools/);
});

Deno.test("StartingServers.settled() waits for lists that are no longer good, and ttlMs() is the shortest", async () => {
  const renewed: string[] = [];
  const toolLists: Record<string, object> = {
    stale: { renewed: () => Promise.resolve(void renewed.push("stale")), ttlMs: 0 },
    good: { renewed: () => undefined, ttlMs: 500 },
    silent: { renewed: () => undefined, ttlMs: undefined },
  };
  const find = (name: string) => ({
    name,
    status: status(name, "ready"),
    toolList: toolLists[name],
  });
  const starting = new StartingServers({
    catalog: new Catalog(),
    pool: { list: () => [], find } as unknown as ServerPool,
    admits: () => true,
  });
  const { signal } = new AbortController();
  assert.equal(starting.settled(["good", "silent"], signal), undefined);
  await starting.settled(["stale", "good"], signal);
  assert.deepEqual(renewed, ["stale"]);
  assert.equal(starting.ttlMs(["good", "silent"]), 500);
  assert.equal(starting.ttlMs(["stale", "good"]), 0);
  assert.equal(starting.ttlMs(["silent"]), undefined);
});
