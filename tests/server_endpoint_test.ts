import assert from "node:assert/strict";
import { join } from "@std/path";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as z from "zod";
import { connect } from "./combined_endpoints.ts";
import { connectChaos, exerciseCallingOff, exerciseChaos } from "./fixtures/exercise_chaos.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

/** A gateway in front of one chaos server over stdio and one over HTTP. */
async function startBoth(flags: string[] = []) {
  const http = await startHttpFixture("chaos_http");
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const mcpServers = {
    stdio: fixtureCommand("chaos_server", flags),
    http: { type: "http", url: http.url },
  };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  const gateway = await startGateway([], { cwd: folder });
  await allReady(gateway, 2);
  return {
    gateway,
    http,
    folder,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await http[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function allReady(gateway: RunningGateway, count: number): Promise<true> {
  return until(async () => {
    const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
    return servers.ready === count || undefined;
  });
}

function transport(gateway: RunningGateway, path: string): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(path, gateway.url));
}

Deno.test("a server's endpoint keeps every feature, over stdio and over HTTP", async (t) => {
  await using both = await startBoth();
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      await using chaos = await connectChaos(
        transport(both.gateway, `/servers/${server}/mcp?names=original`) as never,
      );
      await exerciseChaos(chaos);
    });
  }
});

Deno.test("a server's endpoint relays results byte for byte", async (t) => {
  await using both = await startBoth();
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      const call = await openRaw(both.gateway, `/s/${server}/mcp`);
      const text = await call("tools/call", '{"name":"number","arguments":{}}');
      assert.match(text, /12345678901234567890/);
      const echoed = await call(
        "tools/call",
        '{"name":"echo","arguments":{"2":1,"1":98765432109876543210}}',
      );
      assert.match(echoed, /98765432109876543210/);
    });
  }
});

Deno.test("a server's endpoint lists and accepts all three names", async () => {
  await using gateway = await startGateway();
  await allReady(gateway, 1);
  const expected = {
    "": "weather.get_current",
    "?names=original": "get_current",
    "?names=flat": "weather_get_current",
  };
  for (const [query, name] of Object.entries(expected)) {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport(gateway, `/servers/weather/mcp${query}`) as never);
    const { tools } = await client.listTools();
    assert.ok(
      tools.some((tool) => tool.name === name),
      JSON.stringify(tools.map((tool) => tool.name)),
    );
    for (const any of Object.values(expected)) {
      const result = await client.callTool({ name: any, arguments: { location: "Oslo" } });
      assert.equal(result.isError, undefined);
    }
    await client.close();
  }
});

Deno.test("fifty clients at once: what a server asks reaches only the client whose call caused it", async (t) => {
  await using both = await startBoth();
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      const clients = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          connectChaos(
            transport(both.gateway, `/servers/${server}/mcp?names=original`) as never,
            `client-${index}`,
          )),
      );
      await Promise.all(clients.map(async ({ call }, index) => {
        for (const kind of ["sampling", "elicitation", "roots"]) {
          assert.match(await call("ask", { kind }), new RegExp(`client-${index}\\b`));
        }
      }));
      await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
    });
  }
});

Deno.test("a call that takes too long is cancelled downstream and says TIMEOUT", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({ mcpServers: { slow: { ...fixtureCommand("chaos_server"), timeoutMs: 300 } } }),
  );
  await using gateway = await startGateway([], { cwd: folder });
  await allReady(gateway, 1);
  const call = await openRaw(gateway, "/s/slow/mcp");
  const answer = JSON.parse(await call("tools/call", '{"name":"sleep","arguments":{"ms":5000}}'));
  assert.equal(answer.result.isError, true);
  assert.equal(answer.result.structuredContent.errorType, "TIMEOUT");
  await until(async () => (await cancellations(call)).ids.length > 0 || undefined);
  await gateway.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a client that goes away cancels its call downstream, long before that would end", async (t) => {
  await using both = await startBoth();
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      const call = await openRaw(both.gateway, `/s/${server}/mcp`);
      const gone = new AbortController();
      const calling = call("tools/call", '{"name":"sleep","arguments":{"ms":60000}}', gone.signal);
      const rejected = assert.rejects(calling);
      // Besides the call that asks.
      await until(async () => (await cancellations(call)).running > 1 || undefined);
      const left = Date.now();
      gone.abort();
      await rejected;
      const at = await until(async () => (await cancellations(call)).times[0]);
      // Half a second is meant; a busy machine may take longer, but not until the call ends by itself.
      assert.ok(at - left < 50_000, `cancelled ${at - left} ms after the client had gone`);
      assert.equal((await cancellations(call)).running, 1);
    });
  }
});

Deno.test("a server's endpoint tells a client that a server has called a question off, and which", async (t) => {
  await using both = await startBoth();
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      await using chaos = await connectChaos(
        transport(both.gateway, `/servers/${server}/mcp?names=original`) as never,
      );
      await exerciseCallingOff(chaos);
    });
  }
});

Deno.test("a server's endpoint passes on that any list has changed, also to clients that share a connection", async (t) => {
  await using both = await startBoth();
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      const path = `/servers/${server}/mcp?names=original`;
      await using one = await connect(both.gateway.url, path);
      await using other = await connect(both.gateway.url, path);
      const counts = () =>
        [one, other].map(({ told: { tools, resources, prompts } }) =>
          [tools, resources, prompts].map((times) => times.length).join(" ")
        );
      assert.deepEqual(counts(), ["0 0 0", "0 0 0"]);
      const told = (count: string) =>
        until(() => counts().every((seen) => seen === count) || undefined);
      await one.call("notify", { method: "notifications/resources/list_changed" });
      await told("0 1 0");
      await one.call("notify", { method: "notifications/prompts/list_changed" });
      await told("0 1 1");
      await one.call("change-tools");
      await told("1 1 1");
    });
  }
});

Deno.test("a server's endpoint announces no list that is as the client has it", async () => {
  await using both = await startBoth();
  const { url } = both.gateway;
  await using one = await connect(url, "/servers/stdio/mcp?names=original");
  const before = await one.client.listTools();
  async function request(method: string, path: string, body: unknown): Promise<void> {
    const headers = { "content-type": "application/json", origin: url };
    const response = await fetch(new URL(path, url), {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, text);
  }
  // Published by the catalog: a selection of all tools, where there was none.
  const enabled = before.tools.map(({ name }) => name);
  await request("PUT", "/api/servers/stdio/tools", { enabled });
  await request("POST", "/api/servers", { name: "other", type: "http", url: both.http.url });
  await allReady(both.gateway, 3);
  assert.deepEqual(await one.client.listTools(), before);
  // On the same stream, so it comes after what was announced until now.
  await one.call("notify", { method: "notifications/prompts/list_changed" });
  await until(() => one.told.prompts.length === 1 || undefined);
  assert.deepEqual(one.told.tools, []);
  await request("PUT", "/api/servers/stdio/tools", { enabled: enabled.slice(1) });
  await until(() => one.told.tools.length === 1 || undefined);
});

Deno.test("a server's endpoint answers in JSON where nothing streams, else on a stream that ends with the result", async (t) => {
  await using both = await startBoth();
  for (const server of ["stdio", "http"]) {
    await t.step(server, async () => {
      const exchange = await openExchange(both.gateway, `/s/${server}/mcp`);
      // More than once: an answer that takes its time comes on a stream as well.
      const plain = await until(async () => {
        const answer = await exchange("tools/call", '{"name":"echo","arguments":{}}');
        return answer.type === "application/json" ? answer : undefined;
      });
      assert.match(plain.messages[0] ?? "", /"structuredContent":\{\}/);
      const { type, messages } = await exchange(
        "tools/call",
        '{"name":"progress","arguments":{"steps":3},"_meta":{"progressToken":"steps"}}',
      );
      assert.equal(type, "text/event-stream");
      const said = messages.map((text) => {
        const { method, params, result } = JSON.parse(text);
        return method ? `${method} ${params.progress}` : result.content[0].text;
      });
      assert.deepEqual(said, [
        "notifications/progress 1",
        "notifications/progress 2",
        "notifications/progress 3",
        "Made 3 steps",
      ]);
    });
  }
});

const Cancellations = z.object({
  ids: z.array(z.unknown()),
  times: z.array(z.number()),
  running: z.number(),
});

/** What the chaos server says of calls that were cancelled. */
async function cancellations(call: Awaited<ReturnType<typeof openRaw>>) {
  const text = await call("tools/call", '{"name":"cancelled","arguments":{}}');
  return Cancellations.parse(JSON.parse(text).result.structuredContent);
}

/** A session by hand, so that the text of the answers can be looked at. */
async function openRaw(gateway: RunningGateway, path: string) {
  const exchange = await openExchange(gateway, path);
  return async (...request: Parameters<typeof exchange>) =>
    (await exchange(...request)).messages.at(-1)!;
}

/** The same, with all that comes before an answer, and how it came. */
async function openExchange(gateway: RunningGateway, path: string) {
  const url = new URL(path, gateway.url);
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  let id = 0;
  const post = async (method: string, params: string, signal?: AbortSignal) => {
    const body = `{"jsonrpc":"2.0","id":${++id},"method":"${method}","params":${params}}`;
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      ...(signal ? { signal } : {}),
    });
    const session = response.headers.get("mcp-session-id");
    if (session) headers.set("mcp-session-id", session);
    const type = response.headers.get("content-type") ?? "";
    const text = await response.text();
    if (!type.includes("event-stream")) return { type, messages: [text] };
    const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
    return { type, messages: lines.map((line) => line.slice("data: ".length)) };
  };
  await post(
    "initialize",
    '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}',
  );
  return post;
}
