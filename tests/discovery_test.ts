import assert from "node:assert/strict";
import * as z from "zod";
import { connect, Endpoints, must, openRaw } from "./combined_endpoints.ts";
import { CREATE_ISSUE, discover, nobody, refused, servers, VIEWS } from "./discovery.ts";
import { FaultyGateway } from "./faults.ts";
import { npmServer } from "./fixtures/npm_servers.ts";
import { until } from "./gateway.ts";

Deno.test("/mcp?expose= lists exactly the tools of each view, and all can be called at each", async (t) => {
  await using behind = servers();
  await using endpoints = await Endpoints.open(behind.entries);

  for (const [view, names] of Object.entries(VIEWS)) {
    await t.step(view, async () => {
      await using client = await connect(endpoints.url, `/mcp?expose=${view}`);
      const { tools } = await client.client.listTools();
      assert.deepEqual(tools.map(({ name }) => name).sort(), [...names].sort());
      assert.match(client.client.getInstructions() ?? "", /One endpoint for many MCP servers/);
      await must(client, "tool_capabilities");
      await must(client, "list_available_tools");
      await must(client, "optim.find_tool", { tool_description: "create an issue" });
      await must(client, "optim_find_tool", { tool_description: "create an issue" });
      await must(client, "list-saved-toolsets");
      assert.equal(await must(client, "calendar_create_event"), "called create_event");
      assert.equal(await must(client, "calendar.search-events"), "called search-events");
    });
  }

  await t.step("names=flat lists names without dots and hyphens, in descriptions too", async () => {
    for (const [view, names] of Object.entries(VIEWS)) {
      await using client = await connect(endpoints.url, `/mcp?expose=${view}&names=flat`);
      const { tools } = await client.client.listTools();
      const flat = names.map((name) => name.replaceAll(/[.-]/g, "_"));
      assert.deepEqual(tools.map(({ name }) => name).sort(), flat.sort());
      const texts = JSON.stringify(tools) + client.client.getInstructions();
      for (const name of names.filter((name) => /[.-]/.test(name))) {
        assert.ok(!texts.includes(name), `${view} speaks of ${name}`);
      }
      await must(client, "optim.find_tool", { tool_description: "create an issue" });
      await must(client, "optim_find_tool", { tool_description: "create an issue" });
    }
  });

  await t.step("no view by the name is said so", async () => {
    const { opened } = await openRaw(endpoints.url, "/mcp?expose=discover");
    assert.match(opened.text, /There is no view .*\?expose= with one of default, discovery/);
  });
});

for (const embeddings of ["none", "local"]) {
  Deno.test(`tool_discovery with --embeddings ${embeddings}: levels, filters, context, relevance`, async (t) => {
    await using behind = servers();
    const entries = { ...behind.entries, weather: { type: "demo" } };
    const flags = ["--embeddings", embeddings];
    await using gateway = await FaultyGateway.start(entries, { flags });
    await Promise.all(Object.keys(entries).map((name) => gateway.reaches(name, "ready")));
    await using client = await connect(gateway.url, "/mcp?expose=discovery");
    const find = (args: Record<string, unknown>) => discover(client, args);
    // From here on all searches rank alike.
    await until(async () => (await find({ query: "issue" })).degraded === undefined || undefined);

    await t.step("each level has its fields", async () => {
      const query = ["create", "github", "issue"];
      const first = async (more: object) => (await find({ query, ...more })).tools[0]!;
      assert.deepEqual(Object.keys(await first({ detailLevel: "minimal" })).sort(), [
        "serverName",
        "toolKey",
        "toolName",
      ]);
      const summary = await first({});
      assert.deepEqual(Object.keys(summary).sort(), [
        "description",
        "relevance",
        "serverName",
        "toolKey",
        "toolName",
      ]);
      assert.equal(summary.description, `${CREATE_ISSUE.description.slice(0, 149)}…`);
      const { relevance, explanation, toolKey: _, ...full } = await first({ detail_level: "full" });
      const { inputSchema, outputSchema, annotations } = CREATE_ISSUE;
      assert.deepEqual(full, {
        toolName: "create_issue",
        serverName: "github",
        serverId: "github",
        name: "github_create_issue",
        description: CREATE_ISSUE.description,
        category: "github",
        inputSchema,
        outputSchema,
        annotations,
      });
      assert.equal(typeof explanation, "string");
      assert.equal(relevance, summary.relevance);
    });

    await t.step("a text for the query, and an array, find the same", async () => {
      const names = async (query: unknown) =>
        (await find({ query })).tools.map(({ toolName, relevance }) => [toolName, relevance]);
      assert.deepEqual(await names("create issue"), await names(["create", "issue"]));
    });

    await t.step("more than 100 results are refused, and what is wrong is said", async () => {
      const { code, text } = await refused(client, "tool_discovery", {
        query: "issue",
        maxResults: 101,
      });
      assert.equal(code, "INVALID_ARGUMENTS");
      assert.match(text, /<=100[^]*maxResults/);
      const wrong = await refused(client, "tool_discovery", { query: 7 });
      assert.match(wrong.text, /query/);
      const other = await refused(client, "tool_discovery", { query: "x", detailLevel: "more" });
      assert.match(other.text, /detailLevel/);
    });

    await t.step("a category comes first, and hides nothing that fits", async () => {
      const { tools } = await find({ query: "create", category: "calendar" });
      assert.equal(tools[0]!.toolName, "create_event");
      const none = await refused(client, "tool_discovery", {
        query: "create",
        category: "calender",
      });
      assert.equal(none.code, "INVALID_ARGUMENTS");
      assert.match(none.text, /Did you mean calendar\?/);
    });

    await t.step("the context decides between tools that fit alike", async () => {
      const first = async (context?: string) =>
        (await find({ query: "create", ...(context === undefined ? {} : { context }) }))
          .tools[0]!.toolName;
      assert.equal(await first("planning next week's calendar and its events"), "create_event");
      assert.equal(await first("triage of bugs in the github repository issues"), "create_issue");
    });

    await t.step("relevance says how good a match is, also of the first", async () => {
      const best = async (query: string) => (await find({ query })).tools[0]?.relevance ?? 0;
      const [good, poor] = [
        await best("create an issue in a github repository"),
        await best("water the plants, then create lunch for nine people"),
      ];
      assert.ok(good > 0.5 && good <= 1, String(good));
      assert.ok(poor < good - 0.2, `${poor} is not much less than ${good}`);
      const { tools } = await find({ query: "forecast of the weather" });
      assert.equal(tools[0]!.toolName, "get_forecast");
      const order = tools.map(({ relevance }) => relevance!);
      assert.deepEqual(order, order.toSorted((a, b) => b - a));
    });

    await t.step("where nothing is found, there is a hint and what there is", async () => {
      const none = await find({ query: ["zzyzx", "qwrtp"] });
      // By meaning, something is always nearest.
      assert.ok(none.tools.every(({ relevance }) => relevance! < 0.1));
      if (embeddings === "none") assert.deepEqual(none.tools, []);
      assert.match(none.hint ?? "", /tool_capabilities/);
      assert.equal(none.nearestCategories?.length, 3);
    });
  });
}

Deno.test("tool_capabilities counts all, filters, and shows servers that are not there", async () => {
  await using behind = servers();
  const away = await nobody();
  await using endpoints = await Endpoints.open({ ...behind.entries, away }, ["github", "calendar"]);
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  const Overview = z.looseObject({
    totalTools: z.number(),
    categories: z.array(z.looseObject({ name: z.string(), toolCount: z.number() })),
    servers: z.array(
      z.looseObject({ name: z.string(), toolCount: z.number(), status: z.string() }),
    ),
  });
  const overview = async (args: Record<string, unknown> = {}) =>
    Overview.parse((await client.call("tool_capabilities", args)).data);
  const all = await overview();
  assert.equal(all.totalTools, 7);
  assert.deepEqual(all.categories.map(({ name, toolCount }) => [name, toolCount]), [
    ["github", 5],
    ["calendar", 2],
  ]);
  assert.deepEqual(
    all.servers.map(({ name, toolCount }) => [name, toolCount]),
    [["github", 5], ["calendar", 2], ["away", 0]],
  );
  assert.deepEqual(all.servers.slice(0, 2).map(({ status }) => status), ["running", "running"]);
  assert.notEqual(all.servers[2]!.status, "running");
  const some = await overview({ server: "calendar" });
  assert.deepEqual([some.totalTools, some.servers.length], [2, 1]);
  assert.equal((await overview({ category: "github" })).totalTools, 5);
});

Deno.test("a server from npm is discovered and executed", async () => {
  await using endpoints = await Endpoints.open({ memory: { ...npmServer("memory") } });
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  const { tools } = await discover(client, { query: "read the whole knowledge graph" });
  assert.equal(tools[0]!.toolName, "read_graph");
  const { toolKey } = tools[0]!;
  const { data, isError } = await client.call("tool_execute", { toolKey });
  assert.ok(!isError);
  assert.deepEqual(data, { entities: [], relations: [] });
});

Deno.test("a deprecated tool of a server from npm ranks below the one that it names", async () => {
  const folder = await Deno.makeTempDir();
  await using endpoints = await Endpoints.open({ files: { ...npmServer("filesystem", [folder]) } });
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  for (const query of ["read file", "read_file", "read the complete contents of a file"]) {
    const { tools } = await discover(client, { query });
    const names = tools.map(({ toolName }) => toolName);
    assert.equal(names[0], "read_text_file", query);
    assert.ok(names.includes("read_file"), query);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("options say what words and categories mean, and search goes on without a backend", async (t) => {
  await using behind = servers();
  const words = [
    "--synonyms",
    '{"gripe":["issue"]}',
    "--tool-categories",
    '{"github.*":"tickets"}',
  ];
  const backends = {
    "not configured in full": ["--embeddings", "openai"],
    "not there": ["--embeddings", "ollama", "--embeddings-url", (await nobody()).url],
  };
  for (const [name, flags] of Object.entries(backends)) {
    await t.step(`a backend that is ${name}`, async () => {
      await using gateway = await FaultyGateway.start(behind.entries, {
        flags: [...words, ...flags],
      });
      await Promise.all(Object.keys(behind.entries).map((name) => gateway.reaches(name, "ready")));
      await using client = await connect(gateway.url, "/mcp?expose=discovery");
      const found = await until(async () => {
        const found = await discover(client, { query: "gripe", category: "tickets" });
        return found.degraded === undefined ? undefined : found;
      });
      assert.equal(found.tools.length, 5);
      assert.ok(found.tools.every(({ serverName }) => serverName === "github"));
      const { data } = await client.call("optim.find_tool", { tool_description: "issue" });
      assert.equal(typeof data.degraded, "string");
    });
  }
});
