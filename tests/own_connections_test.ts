import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { chaos, errorType, FaultyGateway } from "./faults.ts";
import { connectChaos } from "./fixtures/exercise_chaos.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";

const COUNTER = { uri: "chaos://counter" };

function connect(faulty: FaultyGateway, server: string) {
  const url = new URL(`/servers/${server}/mcp?names=original`, faulty.url);
  return connectChaos(new StreamableHTTPClientTransport(url) as never);
}

/** Waits until somebody has heard it. */
function hears({ heard }: { heard: string[] }, line: string): Promise<true> {
  return until(() => Promise.resolve(heard.includes(line) || undefined));
}

Deno.test("more clients than can have connections of their own: the idle ones make room, and come back", async () => {
  await using http = await startHttpFixture("chaos_http", ["--stats"]);
  await using faulty = await FaultyGateway.start({ remote: { type: "http", url: http.url } });
  await faulty.reaches("remote", "ready");
  const sessions = async () =>
    (await (await fetch(new URL("/stats", http.url))).json()).sessions as number;

  await using watching = await connect(faulty, "remote");
  await watching.client.subscribeResource(COUNTER);
  await using quiet = await connect(faulty, "remote");
  await quiet.client.setLoggingLevel("error");
  const others = await Promise.all(
    Array.from({ length: 98 }, () => faulty.open("remote", { roots: {} })),
  );
  for (const client of others) await client.must("echo");
  assert.equal(await sessions(), 101, "a hundred, and the shared one");

  const late = await Promise.all(
    Array.from({ length: 5 }, () => faulty.open("remote", { roots: {} })),
  );
  for (const client of late) assert.equal(await client.must("echo", { n: 1 }), '{"n":1}');
  assert.equal(await sessions(), 101);

  assert.equal(await late[0]?.must("touch-resource"), "Told 1 clients");
  await hears(watching, "updated chaos://counter");

  await quiet.call("log", { level: "info", message: "under the level" });
  await quiet.call("log", { level: "error", message: "still heard" });
  await hears(quiet, "error: still heard");
  assert.ok(!quiet.heard.includes("info: under the level"), "its level was set again");

  const stop = new AbortController();
  const busy = [...late, ...others].slice(0, 100).map((client) =>
    client.request("tools/call", { name: "hang", arguments: {} }, stop.signal).catch(() => {})
  );
  await until(async () => {
    const answer = await (await faulty.open("remote", { roots: {} })).call("echo");
    return answer.result?.isError ? errorType(answer) === "LIMIT_EXCEEDED" || undefined : undefined;
  });
  stop.abort();
  await Promise.all(busy);
});

Deno.test("a client's subscription and log level outlive the program that kept them", async () => {
  await using faulty = await FaultyGateway.start({ program: chaos() });
  await faulty.reaches("program", "ready");
  await using client = await connect(faulty, "program");
  await client.client.subscribeResource(COUNTER);
  await client.client.setLoggingLevel("error");
  const { pid } = JSON.parse(await client.call("pid"));
  const before = await faulty.processes();
  assert.ok(before.includes(pid));
  Deno.kill(pid, "SIGKILL");

  // Nobody calls: the gateway has to do it by itself.
  await until(async () => {
    const now = await faulty.processes();
    return !now.includes(pid) && now.length === before.length || undefined;
  });
  assert.equal(await client.call("touch-resource"), "Told 1 clients");
  await hears(client, "updated chaos://counter");
  await client.call("log", { level: "info", message: "under the level" });
  await client.call("log", { level: "error", message: "still heard" });
  await hears(client, "error: still heard");
  assert.ok(!client.heard.includes("info: under the level"));
});

Deno.test("a client's subscription outlives a change of the server's entry", async () => {
  await using http = await startHttpFixture("chaos_http");
  const entry = { type: "http", url: http.url };
  await using faulty = await FaultyGateway.start({ remote: entry });
  await faulty.reaches("remote", "ready");
  await using watching = await connect(faulty, "remote");
  await watching.client.subscribeResource(COUNTER);
  const url = http.url.replace("/mcp", "/s/moved/mcp?tools=5");
  await faulty.configure({ remote: { ...entry, url } });
  const other = await faulty.open("remote");
  await until(async () => (await other.toolNames()).includes("list_issues") || undefined);
  await until(async () => {
    const { result } = await other.call("touch-resource");
    return result?.content?.[0]?.text === "Told 1 clients" || undefined;
  });
  await hears(watching, "updated chaos://counter");
});
