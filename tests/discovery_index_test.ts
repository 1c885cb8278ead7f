import assert from "node:assert/strict";
import * as z from "zod";
import { at, connect, type EndpointClient, Endpoints, must } from "./combined_endpoints.ts";
import { discover, keyOf, nobody, refused, servers, setEnabled, VIEWS } from "./discovery.ts";
import { generateTools } from "./fixtures/generated_tools.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { until } from "./gateway.ts";

Deno.test("list_available_tools and get_tool_description at /mcp?expose=index", async (t) => {
  await using behind = servers();
  const tools = generateTools(2_000).map(({ definition }) => JSON.parse(definition));
  await using many = new ScriptedServer(tools);
  await using endpoints = await Endpoints.open({ ...behind.entries, many: at(many) });
  await using client = await connect(endpoints.url, "/mcp?expose=index");
  const Listing = z.looseObject({
    total: z.number(),
    categories: z.array(z.string()),
    category_counts: z.record(z.string(), z.number()).optional(),
    pages: z.number().optional(),
    tools: z.array(z.looseObject({ name: z.string(), summary: z.string().max(80) })),
  });
  const list = async (args: Record<string, unknown> = {}) => {
    const text = await must(client, "list_available_tools", args);
    return { text, ...Listing.parse(JSON.parse(text)) };
  };

  await t.step("thousands come in pages, with the counts of each category first", async () => {
    const { text, total, pages, categories, category_counts, tools } = await list();
    assert.deepEqual([total, pages, tools.length], [2_007, 21, 100]);
    const counts = categories.map((name) => category_counts![name]!);
    assert.equal(counts.reduce((sum, count) => sum + count, 0), 2_007);
    assert.ok(text.indexOf('"categories"') < text.indexOf('"tools"'));
    const seen = new Set(tools.map(({ name }) => name));
    for (let page = 2; page <= pages!; page++) {
      for (const { name } of (await list({ page })).tools) seen.add(name);
    }
    assert.equal(seen.size, 2_007);
  });

  await t.step("a category alone, whole", async () => {
    const { tools, total } = await list({ category: "calendar" });
    assert.equal(total, tools.length + (total > 100 ? total - 100 : 0));
    assert.ok(tools.some(({ name }) => name === "calendar_create_event"));
  });

  await t.step("one tool in full", async () => {
    const tool_name = "many_search_issues";
    const text = await must(client, "get_tool_description", { tool_name });
    const { parameters, examples = [], related_tools, category } = JSON.parse(text);
    assert.deepEqual(parameters.state, {
      type: "string",
      required: false,
      default: "open",
      enum: ["open", "closed", "all"],
    });
    assert.equal(parameters.workspace.required, true);
    assert.equal(parameters.workspace.description, "Name or id of the workspace");
    assert.equal(parameters.limit.limits, "1 to 100");
    for (const { invocation } of examples) {
      await must(client, "tool_execute", { toolKey: tool_name, arguments: invocation });
    }
    assert.ok(related_tools.length > 0 && related_tools.length <= 5, category);
    const bare = await must(client, "get_tool_description", { tool_name, include_examples: false });
    assert.equal(JSON.parse(bare).examples, undefined);
  });

  await t.step("an unknown name: the nearest three, and where to look", async () => {
    const { code, data } = await refused(client, "get_tool_description", {
      tool_name: "github_creat_issue",
    });
    assert.equal(code, "TOOL_NOT_FOUND");
    const near = z.array(z.string()).length(4).parse(data.suggestedTools);
    assert.equal(near[3], "list_available_tools");
    assert.equal(near[0], "github_create_issue");
  });
});

Deno.test("where there are no tools, all views say so and divide by nothing", async () => {
  const away = await nobody();
  await using endpoints = await Endpoints.open({ away }, []);
  await using client = await connect(endpoints.url, "/mcp?expose=optimizer");
  const { data } = await client.call("optim.find_tool", { tool_description: "anything" });
  const { returned_tokens: _, ...metrics } = z.looseObject({}).parse(data.token_metrics);
  assert.deepEqual(metrics, { baseline_tokens: 0, tokens_saved: 0, savings_percentage: 0 });
  const none = await discover(client, { query: "anything" });
  assert.match(none.hint ?? "", /There are no tools/);
  const { data: listed } = await client.call("list_available_tools");
  assert.deepEqual([listed.total, listed.tools], [0, []]);
  const { data: overview } = await client.call("tool_capabilities");
  assert.match(JSON.stringify(overview), /"totalTools":0.*"name":"away"/);
});

Deno.test("a disabled tool is neither found, nor counted, nor called", async () => {
  await using behind = servers();
  const { github } = behind;
  await using endpoints = await Endpoints.open(behind.entries);
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  const key = await keyOf(client, "create an issue", "create_issue");
  await setEnabled(endpoints, "github", ["list_issue", "get_issue"]);
  await until(async () => (await listedNames(client)).length === 4 || undefined);

  const { tools } = await discover(client, { query: "create an issue", maxResults: 100 });
  assert.ok(tools.every(({ toolName }) => toolName !== "create_issue"));
  const { data } = await client.call("tool_capabilities", { server: "github" });
  assert.equal(data.totalTools, 2);
  assert.ok(!JSON.stringify(data).includes("create_issue"));
  const found = await client.call("optim.find_tool", { tool_description: "create an issue" });
  assert.ok(!JSON.stringify(found.data).includes('"create_issue"'));
  assert.deepEqual(await listedNames(client, { include_disabled: true }), [
    "calendar_create_event true",
    "calendar_search_events true",
    "github_create_issue false",
    "github_list_issue true",
    "github_get_issue true",
    "github_close_issue false",
    "github_reopen_issue false",
  ]);
  const related = await must(client, "get_tool_description", { tool_name: "github_get_issue" });
  assert.deepEqual(JSON.parse(related).related_tools, ["github_list_issue"]);
  const args = { title: "x" };
  for (const toolKey of [key, "github_create_issue", "github:create_issue"]) {
    const { code } = await refused(client, "tool_execute", { toolKey, arguments: args });
    assert.equal(code, "TOOL_DISABLED");
  }
  const call = { backend_id: "github", tool_name: "create_issue", parameters: args };
  assert.equal((await refused(client, "optim.call_tool", call)).code, "TOOL_DISABLED");
  assert.deepEqual(github.calls, []);
});

async function listedNames(client: EndpointClient, args: Record<string, unknown> = {}) {
  const { data } = await client.call("list_available_tools", args);
  return z.array(z.looseObject({ name: z.string(), enabled: z.boolean() })).parse(data.tools)
    .map(({ name, enabled }) => `${name} ${enabled}`);
}

Deno.test("clients are told when a server comes, since the descriptions speak of it", async () => {
  await using behind = servers();
  const { github, calendar } = behind;
  await using endpoints = await Endpoints.open({ github: at(github) });
  const views = Object.keys(VIEWS);
  const clients = await Promise.all(
    views.map((view) => connect(endpoints.url, `/mcp?expose=${view}`)),
  );
  try {
    const [before, told] = [await descriptions(clients), clients.map(({ told }) => told.tools)];
    assert.ok(before.every((text) => !text.includes("calendar (2)")));
    const counts = told.map(({ length }) => length);
    await endpoints.faulty.configure({ github: at(github), calendar: at(calendar) });
    await until(() => told.every(({ length }, index) => length > counts[index]!) || undefined);
    const after = await descriptions(clients);
    for (const [index, text] of after.entries()) {
      assert.match(text, /Servers: github \(5\), calendar \(2\)/, views[index]);
    }
    assert.equal(
      (await discover(clients[0]!, { query: "search events" })).tools[0]!.toolName,
      "search-events",
    );
  } finally {
    for (const client of clients) await client[Symbol.asyncDispose]();
  }
});

async function descriptions(clients: EndpointClient[]): Promise<string[]> {
  return await Promise.all(clients.map(async ({ client }) => {
    const { tools } = await client.listTools();
    return tools.map(({ description }) => description ?? "").join("\n");
  }));
}

Deno.test("tools that are called one after the other are related", async () => {
  await using behind = servers();
  await using endpoints = await Endpoints.open(behind.entries);
  const related = async (client: EndpointClient) => {
    const tool_name = "calendar_search_events";
    return JSON.parse(await must(client, "get_tool_description", { tool_name })).related_tools;
  };
  {
    await using client = await connect(endpoints.url, "/mcp?expose=index");
    assert.deepEqual(await related(client), ["calendar_create_event"]);
    await must(client, "tool_execute", { toolKey: "calendar_search_events" });
    await must(client, "tool_execute", { toolKey: "github_close_issue" });
    await until(async () => (await related(client))[0] === "github_close_issue" || undefined);
  }
  // Kept, so that a gateway that was not there knows it too.
  await endpoints.restart("SIGTERM");
  await using client = await connect(endpoints.url, "/mcp?expose=index");
  await until(async () => (await related(client))[0] === "github_close_issue" || undefined);
});
