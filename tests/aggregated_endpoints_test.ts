import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  CreateTaskResultSchema,
  ListRootsRequestSchema,
  TaskStatusNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/experimental/tasks"
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { at, Endpoints, tool } from "./combined_endpoints.ts";
import { npmServer } from "./fixtures/npm_servers.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { until } from "./gateway.ts";

/** What the server everything lists only to clients that offer these. */
const CONDITIONAL = ["get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"];
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };

async function connect(url: string, path: string, capabilities: object = {}) {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  if ("roots" in capabilities) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: "file:///mine", name: "mine" }],
    }));
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(path, url)) as never);
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    text: async (name: string, args: Record<string, unknown> = {}) =>
      JSON.stringify(await client.callTool({ name, arguments: args })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/**
 * Starting a program for a probe may take a busy machine longer than the first list waits: the first
 * list of a later client has the tool then, though none of them has called anything.
 */
function isSoonListed(
  url: string,
  path: string,
  capabilities: object,
  wanted: readonly string[],
): Promise<true> {
  return until(async () => {
    await using client = await connect(url, path, capabilities);
    const names = await client.names();
    return wanted.every((name) => names.includes(name)) || undefined;
  });
}

Deno.test("the first list of the first capable client has what its servers list to it", async (t) => {
  for (const path of ["/mcp", "/mcp?expose=all", "/toolsets/box/mcp", "/servers/box/mcp"]) {
    await t.step(path, async () => {
      await using server = new ScriptedServer([tool("look")]);
      server.forSampling = () => Promise.resolve([tool("think")]);
      await using endpoints = await Endpoints.open({ box: at(server) });
      await endpoints.build("box", ["box.look", "box.think"]);
      if (path === "/mcp") {
        await endpoints.api("POST", "/api/toolset.equip", { name: "box" });
      }
      await using capable = await connect(endpoints.url, path, { sampling: {} });
      const names = await capable.names();
      assert.ok(names.some((name) => /box[._]think/.test(name)), names.join());
      await using plain = await connect(endpoints.url, path);
      assert.ok(!(await plain.names()).some((name) => name.includes("think")));
    });
  }
});

Deno.test("tools that a server lists to capable clients are listed to them before a call", async (t) => {
  await using endpoints = await Endpoints.open({ every: { ...npmServer("everything") } });
  const { url } = endpoints;
  const flat = CONDITIONAL.map((name) => `every_${name.replaceAll("-", "_")}`);
  const has = (listed: string[], wanted: string[]) =>
    wanted.filter((name) => listed.includes(name));

  await t.step("at the server's endpoint and at /mcp, and for nobody else", async () => {
    const own = "/servers/every/mcp?names=original";
    await isSoonListed(url, own, CAPABILITIES, CONDITIONAL);
    await isSoonListed(url, "/mcp?expose=all", CAPABILITIES, flat);
    for (const path of ["/servers/every/mcp?names=original", "/mcp?expose=all"]) {
      await using plain = await connect(url, path);
      assert.deepEqual(has(await plain.names(), [...CONDITIONAL, ...flat]), []);
    }
  });

  await t.step("found by search and callable", async () => {
    await using capable = await connect(url, "/mcp", CAPABILITIES);
    await capable.names();
    const search = { query: "list the roots of the client" };
    assert.match(await capable.text("tool_discovery", search), /get-roots-list/);
    const found = await capable.text("tool_execute", { toolKey: "every.get-roots-list" });
    assert.match(found, /file:\/\/\/mine/);
    assert.match(await capable.text("every_get_roots_list"), /file:\/\/\/mine/);
    await using plain = await connect(url, "/mcp");
    assert.doesNotMatch(await plain.text("tool_discovery", search), /get-roots-list/);
    await assert.rejects(plain.text("every_get_roots_list"), /no tool/);
  });

  await t.step("in a toolset", async () => {
    await endpoints.build("asking", ["every.get-roots-list", "every.echo"]);
    await using capable = await connect(url, "/toolsets/asking/mcp", CAPABILITIES);
    assert.deepEqual((await capable.names()).sort(), ["every_echo", "every_get_roots_list"]);
    assert.match(await capable.text("every_get_roots_list"), /file:\/\/\/mine/);
    await using plain = await connect(url, "/toolsets/asking/mcp");
    assert.deepEqual(await plain.names(), ["every_echo"]);
  });

  await t.step("not once they are disabled", async () => {
    await endpoints.api("POST", "/api/server.set_tools", {
      server: "every",
      tools: ["echo"],
    });
    await using capable = await connect(url, "/mcp?expose=all", CAPABILITIES);
    assert.deepEqual(await capable.names(), ["every_echo"]);
  });
});

/** The server everything twice: all their URIs are the same. */
const twice = () => ({
  every: { ...npmServer("everything") },
  other: { ...npmServer("everything") },
});

interface Link {
  type: string;
  uri?: string;
  resource?: { uri: string };
}

Deno.test("whatever a tool refers to can be read, at the server that it came from", async (t) => {
  await using endpoints = await Endpoints.open(twice());
  const { url } = endpoints;
  const linksOf = async (client: Client, name: string, args: Record<string, unknown>) => {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as Link[]).flatMap(({ uri, resource }) => uri ?? resource?.uri ?? []);
  };

  await t.step("at /mcp, where nothing is listed", async () => {
    await using plain = await connect(url, "/mcp");
    const { client } = plain;
    assert.deepEqual((await client.listResources()).resources, []);
    for (const server of ["every", "other"]) {
      const links = [
        ...await linksOf(client, `${server}_get_resource_links`, { count: 2 }),
        ...await linksOf(client, `${server}_get_resource_reference`, {
          resourceType: "Text",
          resourceId: 1,
        }),
      ];
      assert.equal(links.length, 3);
      for (const uri of links) {
        assert.match(uri, new RegExp(`^quartermaster://${server}/demo://resource/dynamic/`));
        const { contents } = await client.readResource({ uri });
        assert.deepEqual(contents.map(({ uri }) => uri), [uri]);
      }
    }
    const both = { uri: "demo://resource/dynamic/text/1" };
    await assert.rejects(client.readResource(both), /2 servers have the resource/);
    const prompt = await client.getPrompt({ name: "other.simple-prompt" });
    assert.equal(prompt.messages.length, 1);
  });

  await t.step("at /mcp?expose=all, under the URIs that are listed", async () => {
    await using plain = await connect(url, "/mcp?expose=all");
    const { client } = plain;
    const first = await linksOf(client, "every_get_resource_links", { count: 1 });
    const second = await linksOf(client, "other_get_resource_links", { count: 1 });
    assert.deepEqual(second, first.map((uri) => `quartermaster://other/${uri}`));
    for (const uri of [...first, ...second]) await client.readResource({ uri });
    const { resources } = await client.listResources();
    assert.equal(new Set(resources.map(({ uri }) => uri)).size, resources.length);
    assert.equal(
      resources.filter(({ uri }) => uri.startsWith("quartermaster://other/")).length * 2,
      resources.length,
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate.startsWith("demo://")));
  });

  await t.step("resources and prompts of all servers are listed on request", async () => {
    await using plain = await connect(url, "/mcp?features=all");
    const { prompts } = await plain.client.listPrompts();
    const names = prompts.map(({ name }) => name);
    for (const name of ["every_simple_prompt", "other_simple_prompt"]) {
      assert.ok(names.includes(name), names.join());
    }
    assert.ok((await plain.client.listResources()).resources.length > 0);
    assert.ok((await plain.names()).includes("tool_discovery"));
  });
});

const RESEARCH = { name: "every_simulate_research_query", arguments: { topic: "python" } };

Deno.test("tasks work at aggregated endpoints, under ids that name their server", async (t) => {
  await using endpoints = await Endpoints.open(twice());
  const { url } = endpoints;
  await endpoints.build("research", ["every.simulate-research-query"]);
  for (const path of ["/mcp?expose=all", "/toolsets/research/mcp", "/mcp"]) {
    await t.step(path, async () => {
      await using connected = await connect(url, path);
      const { client } = connected;
      assert.ok(client.getServerCapabilities()?.tasks?.requests?.tools?.call);
      const told: string[] = [];
      client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
        told.push(params.taskId);
      });
      await client.listTools();
      const { tasks } = client.experimental;
      const ids: string[] = [];
      let report = "";
      for await (
        const message of tasks.callToolStream(RESEARCH, CallToolResultSchema, {
          task: { ttl: 60_000 },
        })
      ) {
        if (message.type === "error") throw message.error;
        if (message.type === "taskCreated") ids.push(message.task.taskId);
        if (message.type === "result") report = JSON.stringify(message.result);
      }
      assert.match(ids[0]!, /^every:/);
      assert.match(report, /Research Report: python/);
      assert.match(report, /"io.modelcontextprotocol\/related-task":\{"taskId":"every:/);
      const listed = await tasks.listTasks();
      assert.deepEqual(listed.tasks.map(({ taskId, status }) => [taskId, status]), [
        [ids[0], "completed"],
      ]);
      assert.equal((await tasks.getTask(ids[0]!)).taskId, ids[0]);
      await until(() => told.length > 0 || undefined);
      assert.deepEqual([...new Set(told)], [ids[0]]);

      const created = await client.request(
        { method: "tools/call", params: { ...RESEARCH, task: { ttl: 60_000 } } },
        CreateTaskResultSchema,
      );
      const cancelled = await tasks.cancelTask(created.task.taskId);
      assert.equal(cancelled.status, "cancelled");
      await assert.rejects(tasks.getTask("nobody:1"), /no task/);
    });
  }

  await t.step("a tool that only runs as a task can be called by any client", async () => {
    await using connected = await connect(url, "/mcp");
    const execute = { toolKey: "other.simulate-research-query", arguments: { topic: "go" } };
    assert.match(await connected.text("tool_execute", execute), /Research Report: go/);
  });
});

const CLIENT_TASKS = {
  sampling: {},
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} } } },
};

Deno.test("a server's question that the client runs as a task is answered at /mcp", async () => {
  await using endpoints = await Endpoints.open({ every: { ...npmServer("everything") } });
  const taskStore = new InMemoryTaskStore();
  const client = new Client({ name: "test", version: "1" }, {
    capabilities: CLIENT_TASKS,
    taskStore,
  });
  client.setRequestHandler(CreateMessageRequestSchema, async (_, { taskStore: tasks }) => {
    assert.ok(tasks, "it was to be a task");
    const task = await tasks.createTask({ ttl: 60_000, pollInterval: 50 });
    await tasks.storeTaskResult(task.taskId, "completed", {
      role: "assistant",
      model: "stand-in",
      content: { type: "text", text: "the answer of a task" },
    });
    return { task };
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", endpoints.url)) as never,
  );
  const name = "every_trigger_sampling_request_async";
  await isSoonListed(endpoints.url, "/mcp?expose=all", CLIENT_TASKS, [name]);
  const result = await client.callTool({ name, arguments: { prompt: "Who?" } });
  assert.match(JSON.stringify(result), /the answer of a task/);
  await client.close();
  taskStore.cleanup();
});

Deno.test("a list that was made before slow servers had listed their tools is followed by a change", async (t) => {
  const slow = Promise.withResolvers<void>();
  let probes = 0;
  await using stack = new AsyncDisposableStack();
  const names = Array.from({ length: 6 }, (_, nth) => `slow${nth}`);
  const entries = Object.fromEntries(names.map((name) => {
    const server = stack.use(new ScriptedServer([tool("look")]));
    server.forSampling = async () => {
      probes++;
      await slow.promise;
      return [tool("think")];
    };
    return [name, at(server)];
  }));
  await using endpoints = await Endpoints.open(entries);
  const wanted = names.map((name) => `${name}_think`);
  const missing = (listed: string[]) => wanted.filter((name) => !listed.includes(name));
  const all = "/mcp?expose=all";

  await t.step("with all tools of all of them", async () => {
    await using client = await connect(endpoints.url, all, { sampling: {} });
    let told = 0;
    client.client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
    assert.deepEqual(missing(await client.names()), wanted, "it waits 2 s, not for ever");
    slow.resolve();
    await until(async () => told > 0 && missing(await client.names()).length === 0 || undefined);
    assert.equal(probes, names.length);
  });

  await t.step("which another gateway after a restart remembers", async () => {
    await endpoints.restart("SIGTERM");
    await using client = await connect(endpoints.url, all, { sampling: {} });
    assert.deepEqual(missing(await client.names()), []);
    assert.equal(probes, names.length, "no server was asked again");
  });
});

Deno.test("a tool that a program adds in a client's own process is listed at /mcp", async () => {
  await using endpoints = await Endpoints.open({
    own: fixtureCommand("matrix_sessions", ["--stdio", "own"]),
  });
  await using client = await connect(endpoints.url, "/mcp?expose=all", CAPABILITIES);
  await client.names();
  await client.text("own_change", { list: "tools", add: "fresh" });
  await until(async () => (await client.names()).includes("own_fresh") || undefined);
  await using other = await connect(endpoints.url, "/mcp?expose=all");
  assert.ok(!(await other.names()).includes("own_fresh"), "its process does not have it");
  await client.client.close();
});
