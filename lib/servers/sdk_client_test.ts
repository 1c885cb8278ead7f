import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { listToolTexts } from "./tool_list.ts";
import { FakeServer, until } from "./testing/fake_server.ts";

function open(server: FakeServer, options: Partial<ConnectionOptions> = {}) {
  return Connection.open({
    serverName: "fake",
    openTransport: server.open,
    capabilities: {},
    startTimeoutMs: 60_000,
    events: { onMessage: () => {}, onClose: () => {}, onLog: () => {} },
    ...options,
  });
}

Deno.test("The SDK's client completes a handshake with a server that makes mistakes the SDK refuses", async () => {
  const server = new FakeServer();
  const capabilities = { tools: {}, logging: true, "x/own": { deep: [1] } };
  const serverInfo = { name: "fake", icons: "none" };
  for (const era of ["sessions", undefined] as const) {
    server.handlers.set("initialize", () => ({
      protocolVersion: "2025-06-18",
      capabilities,
      serverInfo,
      instructions: "Say please.",
    }));
    await using connection = await open(server, { era });
    assert.equal(connection.isStateless, false);
    assert.deepEqual(connection.info, {
      protocolVersion: "2025-06-18",
      capabilities,
      serverInfo,
      instructions: "Say please.",
    });
    assert.equal(server.links.at(-1)?.heard.at(-1), "notifications/initialized");
  }
  server.handlers.set("server/discover", () => ({
    supportedVersions: ["2026-07-28"],
    capabilities,
    _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
  }));
  await using connection = await open(server);
  assert.equal(connection.isStateless, true);
  assert.deepEqual(connection.info.capabilities, capabilities);
  assert.deepEqual(connection.info.serverInfo, serverInfo);
});

Deno.test("The SDK's client offers a client's own version and sends its capabilities as they are", async () => {
  const server = new FakeServer();
  const offered: unknown[] = [];
  server.handlers.set("initialize", (params) => {
    offered.push(params);
    return { protocolVersion: "2025-03-26", capabilities: {}, serverInfo: { name: "fake" } };
  });
  const clientInfo = { name: "me", version: "1", "x-own": true };
  const capabilities = { roots: {}, extensions: { "x/y": { a: 1 } } };
  await using _ = await open(server, {
    era: "sessions",
    protocolVersion: "2025-03-26",
    clientInfo,
    capabilities,
  });
  assert.deepEqual(offered, [{ protocolVersion: "2025-03-26", capabilities, clientInfo }]);
});

Deno.test("Connection.open() says what a server answered instead of a handshake", async () => {
  const server = new FakeServer();
  const cases = [
    [{ protocolVersion: "1.0", capabilities: {}, serverInfo: { name: "x" } }, /speaks MCP 1\.0,/],
    [{ capabilities: {} }, /its response to initialize is invalid/],
    [null, /its response to initialize is invalid/],
  ] as const;
  for (const [answer, why] of cases) {
    server.handlers.set("initialize", () => answer);
    await assert.rejects(open(server, { era: "sessions" }), (error: Error) => {
      assert.match(error.message, /^Server "fake" refused the handshake: /);
      assert.match(error.message, why);
      return true;
    });
    assert.deepEqual(server.alive, []);
  }
});

Deno.test("The SDK's client lists tools of both revisions without looking at them", async () => {
  const server = new FakeServer();
  const tools = [{ name: "good", inputSchema: { type: "object" } }, { name: 7 }, "not a tool"];
  server.handlers.set("tools/list", ({ cursor }) => ({
    tools: cursor === undefined ? tools : [{ name: "last", inputSchema: 1 }],
    ...(cursor === undefined ? { nextCursor: "2" } : {}),
  }));
  const listed = [...tools, { name: "last", inputSchema: 1 }].map((tool) => JSON.stringify(tool));
  {
    await using connection = await open(server, { era: "sessions" });
    assert.deepEqual(await listToolTexts(connection, "fake"), listed);
  }
  server.handlers.set("server/discover", () => ({
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
  }));
  await using connection = await open(server);
  assert.deepEqual(await listToolTexts(connection, "fake"), listed);
});

Deno.test("The SDK's client gives up on a request after its time, and tells the server", async () => {
  const server = new FakeServer();
  await using connection = await open(server, { era: "sessions" });
  server.silence("tools/list");
  server.silence("ping");
  const isTimeout = (error: unknown) => error instanceof GatewayError && error.code === "TIMEOUT";
  await assert.rejects(listToolTexts(connection, "fake", 20), isTimeout);
  await assert.rejects(connection.session.checkAlive(20), isTimeout);
  const { heard } = server.links[0]!;
  await until(() => heard.filter((method) => method === "notifications/cancelled").length === 2);
});

Deno.test("A server that answers a ping in any way is alive; a stateless one has to say what it speaks", async () => {
  const server = new FakeServer();
  const pings = [{}, null, [], { anything: 1 }];
  await using connection = await open(server, { era: "sessions" });
  for (const answer of pings) {
    server.handlers.set("ping", () => answer);
    await connection.session.checkAlive(60_000);
  }
  server.handlers.set("server/discover", () => ({
    supportedVersions: ["2026-07-28"],
    capabilities: {},
  }));
  await using stateless = await open(server);
  await stateless.session.checkAlive(60_000);
  server.handlers.set("server/discover", () => ({ supportedVersions: ["2025-11-25"] }));
  await assert.rejects(stateless.session.checkAlive(60_000), /no longer speaks MCP 2026-07-28/);
});
