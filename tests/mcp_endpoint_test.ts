import assert from "node:assert/strict";
import * as z from "zod";
import {
  at,
  connect,
  DEV_NAMES,
  DEV_TOOLS,
  devServers,
  type EndpointClient,
  Endpoints,
  lists,
  must,
  openRaw,
  tool,
  TOOLSET_TOOLS,
} from "./combined_endpoints.ts";
import { pause } from "./faults.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { until } from "./gateway.ts";
import { equipOften } from "./soak/equip_soak.ts";

const ToolDetail = z.looseObject({
  namespacedName: z.string(),
  state: z.string(),
  note: z.string().optional(),
  change: z.looseObject({
    savedVersion: z.number(),
    currentVersion: z.number(),
    compatibility: z.string(),
    reasons: z.array(z.string()),
  }).optional(),
});

/** The state of each tool of the equipped toolset. */
async function activeTools(client: EndpointClient) {
  const { data } = await client.call("get-active-toolset");
  const tools = z.array(ToolDetail).parse(data.tools);
  return new Map(tools.map((detail) => [detail.namespacedName, detail]));
}

/** What a client lists at the moment it is told that there are other tools. News may come while it closes. */
function listsOnNews(client: EndpointClient): string[][] {
  const seen: string[][] = [];
  client.onTools.add(() => void client.tools().then((names) => seen.push(names), () => {}));
  return seen;
}

Deno.test("/mcp: equipping a toolset shows exactly its tools, to every client, and unequipping hides them", async (t) => {
  await using dev = devServers();
  await using endpoints = await Endpoints.open(dev.entries);
  await using client = await connect(endpoints.url, "/mcp");
  await using other = await connect(endpoints.url, "/mcp");
  await using third = await connect(endpoints.url, "/mcp?expose=toolset");
  const all = [client, other, third];

  await t.step("before it, there are only the gateway's own tools", async () => {
    assert.deepEqual(await client.tools(), []);
    const { tools } = await third.client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), TOOLSET_TOOLS);
  });

  await t.step("after it, these and the toolset's, told when they can be listed", async () => {
    const seen = all.map(listsOnNews);
    const built = await client.call("build-toolset", {
      name: "dev-essentials",
      tools: DEV_TOOLS.map((namespacedName) => ({ namespacedName })),
    });
    assert.equal(built.isError, false, built.text);
    const text = await must(client, "equip-toolset", { name: "dev-essentials" });
    assert.match(text, /^Equipped "dev-essentials"\. 4 tools registered: /);
    await until(() => seen.every((lists) => lists.length > 0) || undefined);
    for (const lists of seen) assert.deepEqual(lists[0], DEV_NAMES);
    assert.deepEqual(seen.map((lists) => lists.length), [1, 1, 1], "told once");
    for (const { onTools } of all) onTools.clear();
    assert.deepEqual(await client.tools(), DEV_NAMES);
    const { tools } = await third.client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), [...TOOLSET_TOOLS, ...DEV_NAMES].sort());
  });

  await t.step("definitions are what the servers list, but for the name", async () => {
    const raw = await openRaw(endpoints.url, "/mcp");
    const { text } = await raw.request("tools/list", "{}");
    const { tools } = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) })
      .parse(JSON.parse(text).result);
    const listed = new Map(tools.map((tool) => [tool.name, tool]));
    for (const name of ["status", "commit"]) {
      const own = dev.git.tools.find((tool) => tool.name === name);
      assert.deepEqual(listed.get(`git_${name}`), { ...own, name: `git_${name}` });
    }
    assert.deepEqual(listed.get("docker_ps"), { ...dev.docker.tools[0], name: "docker_ps" });
  });

  await t.step("a toolset that is not there leaves the equipped one equipped", async () => {
    const { isError, data, text } = await client.call("equip-toolset", { name: "dev-esentials" });
    assert.equal(isError, true);
    assert.equal(data.errorType, "NOT_FOUND");
    assert.match(text, /Did you mean dev-essentials\?/);
    assert.deepEqual(await other.tools(), DEV_NAMES);
  });

  await t.step("unequipping brings all back to the gateway's own", async () => {
    const seen = all.map(listsOnNews);
    assert.match(await must(other, "unequip-toolset"), /Unequipped "dev-essentials"/);
    await until(() => seen.every((lists) => lists.length > 0) || undefined);
    for (const lists of seen) assert.deepEqual(lists.at(-1), []);
    for (const { onTools } of all) onTools.clear();
  });

  await t.step("one that is built and equipped in one go is listed too", async () => {
    await must(client, "build-toolset", { name: "all-git", tools: ["git.*"], autoEquip: true });
    await lists(other, ["git_commit", "git_search_repositories", "git_status"]);
  });

  await t.step("a change of the equipped toolset is told", async () => {
    const before = other.told.tools.length;
    await endpoints.build("all-git", ["git.status"], true);
    await until(() => other.told.tools.length > before || undefined);
    assert.deepEqual(await other.tools(), ["git_status"]);
  });
});

Deno.test("/mcp: a call reaches its server with its arguments, and its result comes back byte for byte", async () => {
  await using dev = devServers();
  await using endpoints = await Endpoints.open(dev.entries);
  await endpoints.build("search", ["git.search-repositories"]);
  await using client = await connect(endpoints.url, "/mcp");
  await must(client, "equip-toolset", { name: "search" });
  const result =
    '{"structuredContent":{"10":12345678901234567890,"2":1.0},  "content":[{"text":"\\u00e9","type":"text"}],"isError":false,"_meta":{"x":1e2}}';
  dev.git.results.set("search-repositories", result);
  const raw = await openRaw(endpoints.url, "/mcp");
  const args = '{"2":1,"query":"typescript","1":98765432109876543210}';
  const text = await raw.result(
    `{"_meta":{"a":1},"arguments":${args},"name":"git_search_repositories"}`,
  );
  assert.equal(text, result);
  const [call = ""] = dev.git.calls;
  assert.ok(call.includes(`"arguments":${args}`), call);
  assert.equal(JSON.parse(call).name, "search-repositories");
  assert.deepEqual(dev.docker.calls, []);
});

Deno.test("/mcp: tools of a server that is away are skipped with a warning, and come by themselves", async (t) => {
  await using dev = devServers();
  await using endpoints = await Endpoints.open(dev.entries);
  await endpoints.build("dev-tools", ["git.status", "docker.ps", "linear.create_issue"]);
  await using client = await connect(endpoints.url, "/mcp");
  await using other = await connect(endpoints.url, "/mcp");
  await dev.git.leave();
  // Nobody notices before somebody calls.
  assert.equal((await client.call("git.status")).isError, true);
  await endpoints.faulty.reaches("git", "failed");

  await t.step("skipped", async () => {
    const text = await must(client, "equip-toolset", { name: "dev-tools" });
    assert.match(text, /⚠️ Warning: git server unavailable, skipping tools: git\.status/);
    await endpoints.logged(
      /"level":"?(warn|40)"?.*git server unavailable, skipping tools: git\.status/,
    );
    assert.deepEqual(await other.tools(), ["docker_ps", "linear_create_issue"]);
    assert.equal((await activeTools(client)).get("git.status")?.state, "waiting");
  });

  await t.step("registered when it is back", async () => {
    const seen = [client, other].map(listsOnNews);
    dev.git.comeBack();
    const whole = ["docker_ps", "git_status", "linear_create_issue"].join();
    await until(() => seen.every((lists) => lists.at(-1)?.join() === whole) || undefined);
    await endpoints.logged(/git server reconnected, registering tools: git_status/);
    assert.equal(await must(other, "git_status"), "called status");
  });
});

Deno.test("/mcp: tools that went or changed are marked, with versions and what it means for calls", async (t) => {
  const wide = { type: "object", properties: { path: { type: "string" } } };
  const strict = { ...wide, required: ["path"] };
  await using server = new ScriptedServer([
    tool("keep"),
    tool("vanish"),
    tool("change", { inputSchema: wide }),
    tool("grow"),
  ]);
  await using endpoints = await Endpoints.open({ git: at(server) });
  await endpoints.build("mine", ["git.*"]);
  await using client = await connect(endpoints.url, "/mcp");
  await must(client, "equip-toolset", { name: "mine" });
  const before = client.told.tools.length;
  server.tools = [
    tool("keep"),
    tool("change", { inputSchema: strict }),
    tool("grow", { title: "G" }),
  ];
  const restarted = await endpoints.api("POST", "/api/servers/git/restart");
  assert.ok(restarted.status < 300, JSON.stringify(restarted));
  await until(() => client.told.tools.length > before || undefined);
  await lists(client, ["git_change", "git_grow", "git_keep"]);

  await t.step("in get-active-toolset", async () => {
    const active = await activeTools(client);
    assert.equal(active.get("git.keep")?.change, undefined);
    assert.equal(active.get("git.vanish")?.state, "gone");
    const change = active.get("git.change")?.change;
    assert.equal(change?.compatibility, "breaking");
    assert.deepEqual([change?.savedVersion, change?.currentVersion], [1, 2]);
    assert.match(change?.reasons.join() ?? "", /path/);
    assert.equal(active.get("git.grow")?.change?.compatibility, "compatible");
    const { text } = await client.call("get-active-toolset");
    assert.match(text, /git\.vanish: gone/);
    assert.match(text, /git\.change: registered as git_change \(changed since it was saved/);
    assert.match(text, /Warning: no longer available: git\.vanish/);
  });

  await t.step("and at /api/toolsets/{name}", async () => {
    const { value } = await endpoints.api("GET", "/api/toolsets/mine");
    const { tools } = z.looseObject({ tools: z.array(ToolDetail) }).parse(value.toolset);
    assert.deepEqual(
      tools.map(({ namespacedName, state, change }) =>
        [namespacedName, state, change?.compatibility].join(" ").trim()
      ),
      [
        "git.keep registered",
        "git.vanish gone",
        "git.change registered breaking",
        "git.grow registered compatible",
      ],
    );
  });

  await t.step("a server that is taken out of the config takes its tools along", async () => {
    const seen = listsOnNews(client);
    await endpoints.faulty.configure({ other: at(server) });
    await until(() => seen.at(-1)?.length === 0 || undefined);
    assert.equal((await activeTools(client)).get("git.keep")?.state, "gone");
  });
});

Deno.test("/mcp: what is equipped outlives the gateway, however it ends", async (t) => {
  await using dev = devServers();
  await using endpoints = await Endpoints.open(dev.entries);
  await endpoints.build("dev-essentials", DEV_TOOLS);
  {
    await using client = await connect(endpoints.url, "/mcp");
    await must(client, "equip-toolset", { name: "dev-essentials" });
  }
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await t.step(signal, async () => {
      await endpoints.restart(signal);
      await using client = await connect(endpoints.url, "/mcp");
      assert.deepEqual(await client.tools(), DEV_NAMES);
      assert.equal(await must(client, "git_status"), "called status");
    });
  }
  await t.step("a client's first list right after a start is not cut short", async () => {
    await endpoints.faulty.gateway.stop("SIGKILL");
    await using again = await endpoints.sibling();
    await using client = await connect(again.url, "/mcp");
    assert.deepEqual(await client.tools(), DEV_NAMES);
  });
});

Deno.test("/mcp: two gateways on one data folder: what one equips, the other's clients see", async () => {
  await using dev = devServers();
  await using endpoints = await Endpoints.open(dev.entries);
  await using sibling = await endpoints.sibling();
  await Promise.all(Object.keys(dev.entries).map((name) => sibling.reaches(name, "ready")));
  await using here = await connect(endpoints.url, "/mcp");
  await using there = await connect(sibling.url, "/mcp");
  await endpoints.build("dev-essentials", DEV_TOOLS);
  const seen = listsOnNews(there);
  await must(here, "equip-toolset", { name: "dev-essentials" });
  await until(() => seen.length > 0 || undefined);
  assert.deepEqual(seen[0], DEV_NAMES);
  await must(there, "unequip-toolset");
  await lists(here, []);
  await endpoints.build("short-lived", ["docker.ps"]);
  await until(async () => {
    const { data } = await there.call("equip-toolset", { name: "short-lived" });
    return data.errorType === "NOT_FOUND" ? undefined : true;
  });
  await lists(here, ["docker_ps"]);
  await must(there, "delete-toolset", { name: "short-lived", confirm: true });
  await lists(here, []);
});

Deno.test("/mcp: ?expose= picks the view", async (t) => {
  await using dev = devServers();
  await using endpoints = await Endpoints.open(dev.entries);
  const everything = [
    "docker_build_image",
    "docker_ps",
    "git_commit",
    "git_search_repositories",
    "git_status",
    "linear_create_issue",
    "linear_list_issues",
  ];

  await t.step("all lists every enabled tool, and keeps up", async () => {
    await using client = await connect(endpoints.url, "/mcp?expose=all");
    const { tools } = await client.client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), everything);
    const seen = listsOnNews(client);
    await using admin = await connect(endpoints.url, "/gateway/mcp");
    await must(admin, "set_enabled_tools", { server: "git", tools: ["status"] });
    await until(() => seen.at(-1)?.length === 5 || undefined);
    assert.ok(!seen.at(-1)?.includes("git_commit"));
    assert.match(await must(client, "list-saved-toolsets"), /No toolsets yet/, "not listed");
    const told = client.told.tools.length;
    await endpoints.build("some", ["docker.ps"]);
    await must(client, "equip-toolset", { name: "some" });
    assert.deepEqual((await client.tools()).length, 5, "whatever is equipped");
    // Longer than news are held back.
    await pause(700);
    assert.equal(client.told.tools.length, told, "no news here");
    await must(client, "unequip-toolset");
  });

  await t.step("a view that is not there is refused with those that are", async () => {
    const { opened } = await openRaw(endpoints.url, "/mcp?expose=everything");
    assert.equal(opened.status, 400);
    const { error } = JSON.parse(opened.text);
    assert.equal(error.message, 'There is no view "everything"');
    assert.match(error.recoverySteps.join(), /default, discovery, index, optimizer, toolset, all/);
  });

  await t.step("a session belongs to its view", async () => {
    const raw = await openRaw(endpoints.url, "/mcp");
    assert.equal(raw.opened.status, 200);
    const other = await openRaw(endpoints.url, "/mcp?expose=default");
    assert.equal(other.opened.status, 200, "the default view can be named");
  });
});

Deno.test("/mcp: equipped again and again, every client ends with the right list and is not flooded", async () => {
  const report = await equipOften({ clients: 10, equips: 30, settleMs: 1_500 });
  assert.deepEqual(report.wrongLists, []);
  assert.ok(report.mostInASecond <= 3, `${report.mostInASecond} notifications within a second`);
  assert.ok(report.fewestTold > 0);
});
