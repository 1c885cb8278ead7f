import assert from "node:assert/strict";
import { join } from "@std/path";
import { Endpoints, openRaw } from "./combined_endpoints.ts";
import { FaultyGateway } from "./faults.ts";
import { npmServer, startEverythingOverHttp } from "./fixtures/npm_servers.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { startGateway, until } from "./gateway.ts";
import { StatelessClient } from "./stateless_client.ts";

/** Messages of progress in one call. */
const FLOOD = 20_000;

const TEXT = "demo://resource/dynamic/text/7";

/** All that an older server can do, for a client of 2026-07-28. */
async function exercise(own: StatelessClient, name: (tool: string) => string): Promise<void> {
  const { client, heard, asked } = own;
  const call = (tool: string, args?: Record<string, unknown>) => own.call(name(tool), args);
  assert.match(await call("echo", { message: "naïve 🌍" }), /naïve 🌍/);
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");

  const progress: number[] = [];
  const long = {
    name: name("trigger-long-running-operation"),
    arguments: { duration: 0.3, steps: 3 },
  };
  await client.callTool(long, {
    // The SDK counts rounds as progress too, without a total.
    onprogress: ({ progress: step, total }) => total === 3 && progress.push(step),
  });
  assert.deepEqual(progress, [1, 2, 3]);

  assert.match(await call("trigger-sampling-request", { prompt: "Who?" }), /marker/);
  assert.match(await call("trigger-elicitation-request"), /marker/);
  const url = { url: "https://example.com/login", elicitationId: "login-1" };
  assert.match(await call("trigger-url-elicitation", url), /User completed/);
  // The call fails with -32042 until the user has opened another page.
  const before = asked.splice(0);
  assert.match(
    await call("trigger-url-elicitation", { ...url, errorPath: true }),
    /User completed/,
  );
  assert.deepEqual(asked, ["elicitation/create url", "elicitation/create url"]);
  assert.match(await call("get-roots-list"), /file:\/\/\/marker/);
  const methods = new Set([...before, ...asked]);
  assert.deepEqual([...methods].sort(), [
    "elicitation/create form",
    "elicitation/create url",
    "roots/list",
    "sampling/createMessage",
  ]);

  const { resources } = await client.listResources();
  assert.ok(resources.length > 0);
  const { contents } = await client.readResource({ uri: TEXT });
  assert.match(JSON.stringify(contents), /Resource 7: This is a plaintext resource/);

  const subscription = await client.listen({
    resourceSubscriptions: [TEXT],
    toolsListChanged: true,
  });
  await call("toggle-subscriber-updates");
  await until(() => Promise.resolve(heard.includes(`updated ${TEXT}`) || undefined));
  await call("toggle-subscriber-updates");
  await subscription.close();

  const stop = new AbortController();
  const slow = client.callTool({ ...long, arguments: { duration: 60, steps: 60 } }, {
    signal: stop.signal,
    onprogress: () => stop.abort(new Error("enough")),
  });
  await assert.rejects(slow, /enough|abort/i);
}

async function promptsAndCompletion({ client }: StatelessClient, prompt: (name: string) => string) {
  const { messages } = await client.getPrompt({
    name: prompt("args-prompt"),
    arguments: { city: "Oslo", state: "none" },
  });
  assert.match(JSON.stringify(messages), /Oslo/);
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: prompt("completable-prompt") },
    argument: { name: "name", value: "E" },
    context: { arguments: { department: "Sales" } },
  });
  assert.deepEqual(completion.values, ["Eve"]);
}

/** What the fixture of the conformance suite does that lists all its tools to everybody. */
async function exerciseFixture(own: StatelessClient, name: (tool: string) => string) {
  const { client, heard } = own;
  const call = (tool: string, args?: Record<string, unknown>) => own.call(name(tool), args);
  assert.match(await call("test_sampling", { prompt: "Who?" }), /LLM response: marker/);
  assert.match(await call("test_elicitation", { message: "Who?" }), /accept.*marker/);
  const progress: number[] = [];
  // Not with `onprogress`: the SDK drops it with the answer, which can arrive with the last progress.
  client.setNotificationHandler("notifications/progress", ({ params }) => {
    if (params.progressToken === "steps") progress.push(params.progress);
  });
  const _meta = { progressToken: "steps" };
  await client.callTool({ name: name("test_tool_with_progress"), arguments: {}, _meta });
  await until(() => progress.length === 3 || undefined);
  assert.deepEqual(progress, [0, 50, 100]);
  await call("test_tool_with_logging");
  heard.splice(0, heard.length, ...heard.filter((line) => !line.endsWith(" changed")));
  assert.equal(heard.length, 0, "without a level there are no log messages");
  await client.callTool({
    name: name("test_tool_with_logging"),
    arguments: {},
    _meta: { "io.modelcontextprotocol/logLevel": "info" },
  });
  assert.equal(heard.filter((line) => line.startsWith("info: ")).length, 3);
  heard.splice(0);
}

Deno.test("a client of 2026-07-28 uses an older server's whole range at its endpoint", async (t) => {
  await using http = await startEverythingOverHttp();
  await using faulty = await FaultyGateway.start({
    pipe: { ...npmServer("everything") },
    web: { type: "http", url: http.url },
  });
  for (const server of ["pipe", "web"]) {
    await t.step(server, async () => {
      await faulty.reaches(server, "ready");
      const url = new URL(`/servers/${server}/mcp?names=original`, faulty.url);
      await using own = await StatelessClient.http(url);
      await exercise(own, (tool) => tool);
      await promptsAndCompletion(own, (prompt) => prompt);
    });
  }
});

Deno.test("a client of 2026-07-28 is asked and told at the endpoints of many servers", async (t) => {
  await using http = await startHttpFixture("conformance_server");
  await using endpoints = await Endpoints.open({
    pipe: fixtureCommand("conformance_server", ["--stdio"]),
    web: { type: "http", url: http.url },
  });
  const names = ["sampling", "elicitation", "tool_with_progress", "tool_with_logging"];
  await endpoints.build(
    "asking",
    ["pipe", "web"].flatMap((server) => names.map((name) => `${server}.test_${name}`)),
  );
  for (const path of ["/mcp", "/mcp?expose=all", "/mcp?expose=toolset", "/toolsets/asking/mcp"]) {
    await t.step(path, async () => {
      await using own = await StatelessClient.http(new URL(path, endpoints.url));
      for (const server of ["pipe", "web"]) {
        await exerciseFixture(own, (tool) => `${server}_${tool}`);
      }
    });
  }

  await t.step("lists are in the same order each time, and private", async () => {
    await using own = await StatelessClient.http(new URL("/mcp?expose=all", endpoints.url));
    const [first, second] = [await own.client.listTools(), await own.client.listTools()];
    assert.deepEqual(first, second);
    assert.equal(first.cacheScope, "private");
    assert.ok(first.tools.length > 20);
  });

  await t.step("/gateway/mcp: operations, and a changed list at /mcp", async () => {
    await using gateway = await StatelessClient.http(new URL("/gateway/mcp", endpoints.url));
    const { tools } = await gateway.client.listTools();
    assert.ok(tools.length > 10);
    await using own = await StatelessClient.http(new URL("/mcp", endpoints.url));
    const before = (await own.client.listTools()).tools.length;
    await using _listening = disposing(await own.client.listen({ toolsListChanged: true }));
    assert.match(await own.call("equip-toolset", { name: "asking" }), /Equipped "asking"/);
    await until(() => own.heard.includes("tools changed") || undefined);
    assert.equal((await own.client.listTools()).tools.length, before + 8);
    await own.call("unequip-toolset");
  });

  await t.step("it is among the clients, with its revision", async () => {
    const { value } = await endpoints.api("GET", "/api/client.list");
    const found = JSON.stringify(value);
    assert.match(found, /"name":"stateless"/);
    assert.match(found, /"protocolVersion":"2026-07-28"/);
  });
});

Deno.test("a client of 2026-07-28 does over stdio what it does over HTTP", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const entries = { fixture: fixtureCommand("conformance_server", ["--stdio"]) };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: entries }));
  const start = { dataDir: folder, cwd: folder };
  await t.step("with a gateway of its own", async () => {
    await using own = await StatelessClient.stdio(["--server", "fixture"], start);
    assert.ok((await own.client.listTools()).tools.length > 10);
    await exerciseFixture(own, (tool) => `fixture.${tool}`);
    const stop = new AbortController();
    own.client.setNotificationHandler("notifications/progress", () => {
      stop.abort(new Error("enough"));
    });
    const slow = own.client.callTool({
      name: "fixture.test_tool_with_progress",
      arguments: {},
      _meta: { progressToken: "slow" },
    }, { signal: stop.signal });
    await assert.rejects(slow, /enough|abort/i);
  });
  await t.step("as a bridge, also to the gateway after it", async () => {
    const gateway = await startGateway([], { cwd: folder, dataDir: folder });
    await using own = await StatelessClient.stdio(["--expose", "all"], start);
    await until(() => lists(own, "fixture_test_sampling"));
    await exerciseFixture(own, (tool) => `fixture_${tool}`);
    await using _listening = disposing(await own.client.listen({ toolsListChanged: true }));
    await gateway.stop();
    await using _next = await startGateway([], { cwd: folder, dataDir: folder });
    await until(() => own.heard.includes("tools changed") || undefined);
    await until(() => lists(own, "fixture_test_sampling"));
    await exerciseFixture(own, (tool) => `fixture_${tool}`);
  });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("ids and progress tokens keep all their digits, and a flood loses neither answer nor order", async (t) => {
  await using web = await startHttpFixture("chaos_http");
  await using faulty = await FaultyGateway.start({
    pipe: fixtureCommand("chaos_server"),
    web: { type: "http", url: web.url },
  });
  for (const server of ["pipe", "web"]) {
    await faulty.reaches(server, "ready");
    const path = `/servers/${server}/mcp?names=original`;
    const raw = await openRaw(faulty.url, path);
    const call = (meta: string, total: number) =>
      `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"progress",` +
      `"arguments":{"steps":${total}},"_meta":{"progressToken":9007199254740995${meta}}}}`;
    const check = (text: string, messages: string[], total: number) => {
      assert.match(text, /"id":9007199254740993[,}]/);
      const told = messages.filter((line) => line.includes("notifications/progress"));
      assert.ok(told.length > 0 && told.every((line) => /9007199254740995\D/.test(line)));
      const steps = told.map((line) => JSON.parse(line).params.progress);
      assert.deepEqual(steps, steps.toSorted((a: number, b: number) => a - b));
      assert.equal(steps.at(-1), total);
    };
    await t.step(`${server}, with a session`, async () => {
      for (const total of [3, FLOOD]) {
        const { text, messages } = await raw.post(call("", total));
        check(text, messages, total);
      }
      const listed =
        '{"jsonrpc":"2.0","id":-9223372036854775808,"method":"tools/list","params":null}';
      const { text, status } = await raw.post(listed);
      assert.equal(status, 200);
      assert.match(text, /^\{"jsonrpc":"2\.0","id":-9223372036854775808,"result":\{"tools":/);
    });
    for (const cut of ["early", "late"]) {
      await t.step(`${server}, resumed by a slow client after a ${cut} cut`, async () => {
        const connection = new AbortController();
        const { signal } = connection;
        const response = await raw.fetch({ method: "POST", body: call("", FLOOD), signal });
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let before = "";
        while (!before.includes('"progress":1,')) before += (await reader.read()).value ?? "";
        if (cut === "late") {
          await until(async () => {
            const answer = await raw.request("tools/call", '{"name":"cancelled","arguments":{}}');
            return JSON.parse(answer.text).result.structuredContent.running === 1 || undefined;
          });
        }
        connection.abort();
        await reader.cancel().catch(() => {});
        const seen = before.slice(0, before.lastIndexOf("\n\n"));
        const headers = { "last-event-id": seen.match(/(?<=^id: ).+/gm)!.at(-1)! };
        const rest = await (await raw.fetch({ method: "GET", headers })).text();
        const messages = [seen, rest].flatMap((text) => text.match(/(?<=^data: )\{.*$/gm) ?? []);
        check(messages.at(-1)!, messages, FLOOD);
      });
    }
    await t.step(`${server}, without one`, async () => {
      const key = "io.modelcontextprotocol";
      const meta = `,"${key}/protocolVersion":"2026-07-28","${key}/clientCapabilities":{}`;
      const send = (body: string) =>
        fetch(new URL(path, faulty.url), {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "progress",
          },
          body,
        });
      const guessed = call(meta, 3).replace('"name":', '"requestState":"guess","name":');
      assert.equal((await (await send(guessed)).json()).error?.code, -32602);
      for (const total of [3, FLOOD]) {
        const response = await send(call(meta, total));
        const messages = (await response.text()).split("\n")
          .flatMap((line) => line.startsWith("data: {") ? line.slice(6) : []);
        check(messages.at(-1)!, messages, total);
      }
    });
  }
});

async function lists({ client }: StatelessClient, name: string): Promise<true | undefined> {
  const { tools } = await client.listTools();
  return tools.some((tool) => tool.name === name) || undefined;
}

function disposing(subscription: { close(): Promise<void> }) {
  return { [Symbol.asyncDispose]: () => subscription.close() };
}
