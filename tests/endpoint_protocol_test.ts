import assert from "node:assert/strict";
import { startGateway, until } from "./gateway.ts";

const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}';
const PING = '{"jsonrpc":"2.0","id":2,"method":"ping"}';
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

async function ready(url: string): Promise<void> {
  await until(async () => (await (await fetch(`${url}/readyz`)).json()).servers.ready || undefined);
}

async function openSession(endpoint: string): Promise<Record<string, string>> {
  const response = await fetch(endpoint, { method: "POST", headers: HEADERS, body: INITIALIZE });
  await response.body?.cancel();
  return { ...HEADERS, "mcp-session-id": response.headers.get("mcp-session-id")! };
}

Deno.test("an endpoint answers what is no proper request with the status the protocol has for it", async () => {
  await using gateway = await startGateway();
  await ready(gateway.url);
  const endpoint = `${gateway.url}/servers/weather/mcp`;
  const session = await openSession(endpoint);
  const cases: [string, RequestInit, number, RegExp?][] = [
    ["no session", { body: PING }, 400, /Mcp-Session-Id/],
    ["unknown session", {
      body: PING,
      headers: { ...HEADERS, "mcp-session-id": crypto.randomUUID() },
    }, 404],
    ["odd session", { body: PING, headers: { ...HEADERS, "mcp-session-id": "../../x" } }, 404],
    ["not JSON", { body: "{", headers: session }, 400, /-32700/],
    ["not JSON-RPC", { body: "{}", headers: session }, 400, /-32600/],
    ["a batch", { body: `[${PING}]`, headers: session }, 400, /-32600/],
    [
      "wrong content type",
      { body: PING, headers: { ...session, "content-type": "text/plain" } },
      415,
    ],
    ["does not accept", { body: PING, headers: { ...session, accept: "text/html" } }, 406],
    [
      "unknown version",
      { body: PING, headers: { ...session, "mcp-protocol-version": "1999-01-01" } },
      400,
      /-32022/,
    ],
    [
      "newer protocol",
      { body: '{"jsonrpc":"2.0","id":1,"method":"server/discover"}' },
      400,
      /-32601/,
    ],
    [
      "bad initialize",
      { body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' },
      400,
      /protocolVersion/,
    ],
    ["wrong method", { method: "PUT", body: PING }, 405],
    ["GET without a session", { method: "GET" }, 400],
    ["fine", { body: PING, headers: session }, 200],
    ["a notification", {
      body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      headers: session,
    }, 202],
    ["an answer nobody asked for", {
      body: '{"jsonrpc":"2.0","id":9,"result":{}}',
      headers: session,
    }, 400],
  ];
  for (const [name, init, status, pattern] of cases) {
    const response = await fetch(endpoint, { method: "POST", headers: HEADERS, ...init });
    const text = await response.text();
    assert.equal(response.status, status, `${name}: ${text}`);
    if (pattern) assert.match(text, pattern, name);
  }
  const unknown = await fetch(`${gateway.url}/servers/wether/mcp`, {
    method: "POST",
    headers: HEADERS,
    body: INITIALIZE,
  });
  assert.equal(unknown.status, 404);
  assert.match(await unknown.text(), /SERVER_NOT_FOUND.*weather/);
});

Deno.test("an endpoint ends a session on DELETE, and keeps each session to its own endpoint", async () => {
  await using gateway = await startGateway();
  await ready(gateway.url);
  const endpoint = `${gateway.url}/servers/weather/mcp`;
  const headers = await openSession(endpoint);
  const status = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(
    await status(`${gateway.url}/gateway/mcp`, { method: "POST", headers, body: PING }),
    404,
  );
  assert.equal(
    await status(`${endpoint}?names=flat`, { method: "POST", headers, body: PING }),
    404,
  );
  assert.equal(await status(endpoint, { method: "DELETE", headers }), 200);
  assert.equal(await status(endpoint, { method: "POST", headers, body: PING }), 404);
  assert.equal(await status(endpoint, { method: "DELETE", headers }), 404);
});

Deno.test("a session goes on after a restart of the gateway", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const first = await startGateway([], { dataDir });
  await ready(first.url);
  const headers = await openSession(`${first.url}/servers/weather/mcp`);
  const listening = fetch(`${first.url}/servers/weather/mcp`, { headers });
  const heard = (await listening).text();
  await first.stop();
  const second = await startGateway([], { dataDir });
  await ready(second.url);
  const response = await fetch(`${second.url}/servers/weather/mcp`, {
    method: "POST",
    headers,
    body: PING,
  });
  assert.equal(response.status, 200, await response.text());
  const [, seen = "", life = ""] = /^id: ((\w+)-0-\d+)\n/.exec(await heard) ?? [];
  const listen = (id: string) =>
    fetch(`${second.url}/servers/weather/mcp`, { headers: { ...headers, "last-event-id": id } });
  const rest = await listen(seen);
  assert.equal(rest.status, 200);
  const another = await listen(`${life}-1-0`);
  assert.equal(another.status, 400, await another.text());
  await second.stop();
  assert.match(await rest.text(), /notifications\/tools\/list_changed/);
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test("a stop does not wait for clients that only listen", async () => {
  const gateway = await startGateway();
  await ready(gateway.url);
  const endpoint = `${gateway.url}/servers/weather/mcp`;
  const headers = { ...await openSession(endpoint), accept: "text/event-stream" };
  const stream = await fetch(endpoint, { headers });
  const ended = stream.text();
  assert.equal((await gateway.stop()).code, 0);
  // Ended properly, not cut off at the end of the wait.
  assert.match(await ended, /^id: [0-9a-f]{8}-0-/);
  await Deno.remove(gateway.dataDir, { recursive: true });
});

Deno.test("a call's line in the log says which server and tool, how long and how it ended", async () => {
  await using gateway = await startGateway(["--log-level", "debug"]);
  await ready(gateway.url);
  const endpoint = `${gateway.url}/servers/weather/mcp`;
  const headers = { ...await openSession(endpoint), "x-correlation-id": "chain-7" };
  const params = { name: "weather.get_current", arguments: { location: "Oslo" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call", params });
  await (await fetch(endpoint, { method: "POST", headers, body })).text();
  await gateway.stop();
  const lines = gateway.log().trim().split("\n").map((line) => JSON.parse(line));
  const { requestId, duration, ...line } = lines.find(({ tool }) => tool !== undefined);
  assert.match(requestId, /^[0-9a-f-]{36}$/);
  assert.equal(typeof duration, "number");
  assert.equal(line.correlationId, "chain-7");
  assert.equal(line.server, "weather");
  assert.equal(line.tool, "get_current");
  assert.equal(line.client, "raw");
  assert.equal(line.outcome, "ok");
});
