import assert from "node:assert/strict";
import { join } from "@std/path";
import { CanonicalToolsRepository } from "../lib/storage/canonical_tools_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { chaos, EndpointClient, errorType, FaultyGateway } from "./faults.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";

const inputSchema = { type: "object" };

Deno.test("faults: a server that has forgotten the session is initialized again, and the call succeeds", async (t) => {
  await using server = new ScriptedServer([{ name: "look", inputSchema }]);
  await using faulty = await FaultyGateway.start({ remote: { type: "http", url: server.url } });
  await faulty.reaches("remote", "ready");
  for (const [kind, capabilities] of [["shared", {}], ["own", { roots: {} }]] as const) {
    await t.step(kind, async () => {
      const client = await faulty.open("remote", capabilities);
      assert.equal(await client.must("look"), "called look");
      server.forgetSessions();
      const many = await Promise.all(Array.from({ length: 20 }, () => client.must("look")));
      assert.ok(many.every((text) => text === "called look"));
      server.forgetSessions();
      assert.equal(await client.must("look"), "called look");
    });
  }
  assert.equal((await faulty.statuses()).get("remote")?.state, "ready");
});

Deno.test("faults: a server that goes away fails its calls fast, and is back when it is back", async () => {
  await using server = new ScriptedServer([{ name: "look", inputSchema }]);
  await using faulty = await FaultyGateway.start({ remote: { type: "http", url: server.url } });
  await faulty.reaches("remote", "ready");
  const client = await faulty.open("remote");
  assert.equal(await client.must("look"), "called look");
  await server.leave();
  for (let calls = 0; calls < 5; calls++) {
    assert.equal(errorType(await client.call("look")), "SERVER_DISCONNECTED");
  }
  const { reason } = await faulty.reaches("remote", "failed");
  assert.match(reason, /the connection was refused; retrying soon/);
  const ready = await (await fetch(`${faulty.url}/readyz`)).json();
  assert.deepEqual(ready.degraded, ["Server remote is failed"]);
  assert.deepEqual(await client.toolNames(), ["look"], "what it can do stays known");
  server.comeBack();
  await faulty.reaches("remote", "ready");
  assert.equal(await client.must("look"), "called look");
});

Deno.test("faults: servers that want a login, never answer or send too much harm nobody else", async (t) => {
  await using http = await startHttpFixture("chaos_http");
  const at = (path: string) => ({ type: "http", url: http.url.replace("/mcp", path) });
  await using faulty = await FaultyGateway.start({
    good: at("/s/good/mcp"),
    login: at("/s/login/mcp?unauthorized="),
    dead: at("/s/dead/mcp?dead-after=0"),
    huge: at("/s/huge/mcp?huge-line=50000000"),
    short: { ...at("/s/short/mcp"), timeoutMs: 500 },
  });
  await faulty.reaches("good", "ready");
  assert.equal(await (await faulty.open("good")).must("echo"), "{}");

  await t.step("401 is needs_login, with the way to it", async () => {
    const { reason } = await faulty.reaches("login", "needs_login");
    assert.match(reason, /requires a login: HTTP 401 from .*realm chaos/);
    await assert.rejects(faulty.open("login"), /is needs login/);
  });

  await t.step("one that takes requests and never answers is still connecting", async () => {
    assert.equal((await faulty.statuses()).get("dead")?.state, "starting");
  });

  await t.step("an answer that is too large fails its call alone", async () => {
    await faulty.reaches("huge", "ready");
    const client = await faulty.open("huge");
    const answer = await client.call("big");
    assert.match(JSON.stringify(answer), /limit of 16 MiB/);
    assert.equal(errorType(answer), "LIMIT_EXCEEDED");
    assert.equal(await client.must("echo"), "{}");
    assert.equal((await faulty.statuses()).get("huge")?.state, "ready");
  });

  await t.step("progress starts the time limit of a call anew", async () => {
    await faulty.reaches("short", "ready");
    const client = await faulty.open("short");
    const args = { steps: 6, ms: 200 };
    const silent = await client.call("progress", args);
    assert.equal(errorType(silent), "TIMEOUT");
    const told = await client.call("progress", args, { _meta: { progressToken: "p" } });
    assert.equal(told.result?.content?.[0]?.text, "Made 6 steps");
  });
});

Deno.test("faults: a response over --max-message fails its call at once, however it is printed", async (t) => {
  await using http = await startHttpFixture("chaos_http");
  const timeoutMs = 86_400_000;
  const at = (path: string) => ({ url: http.url.replace("/mcp", path), timeoutMs });
  const entries = {
    stdio: chaos(["--pretty"], { timeoutMs }),
    json: { type: "http", ...at("/s/json/mcp?pretty=") },
    stream: { type: "http", ...at("/s/stream/mcp?pretty=&sse=") },
    sse: { type: "sse", ...at("/s/sse/sse?pretty=") },
  };
  await using faulty = await FaultyGateway.start(entries, { flags: ["--max-message", "1MiB"] });
  for (const server of Object.keys(entries)) {
    await t.step(server, async () => {
      await faulty.reaches(server, "ready");
      const client = await faulty.open(server);
      // Another call waits on the same connection: the response has to be told by its id.
      const leaving = new AbortController();
      const waiting = client.request("tools/call", { name: "hang" }, leaving.signal).catch(
        () => {},
      );
      assert.ok((await client.must("big", { bytes: 1_000_000 })).length === 1_000_000);
      const params = { name: "big", arguments: { bytes: 1_100_000 } };
      const answer = await client.request("tools/call", params, AbortSignal.timeout(60_000));
      assert.equal(errorType(answer), "LIMIT_EXCEEDED");
      assert.match(JSON.stringify(answer), /limit of 1 MiB.* --max-message/);
      assert.equal(await client.must("echo", { n: 1 }), '{"n":1}');
      leaving.abort();
      await waiting;
    });
  }
});

Deno.test("faults: tools with the same name, dots, other scripts or none are told apart", async () => {
  const long = "x".repeat(300);
  await using server = new ScriptedServer([
    { name: "twice", description: "first", inputSchema },
    { name: "twice", description: "second", inputSchema },
    { name: "dup.name", inputSchema },
    { name: "dup_name", inputSchema },
    { name: "dup-name", inputSchema },
    { name: "weather.today.in", inputSchema },
    { name: "погода", inputSchema },
    { name: "天気", inputSchema },
    { name: "with space/and:more", inputSchema },
    { name: long, inputSchema },
    { inputSchema },
    { name: "", inputSchema },
    { name: "no_schema" },
    { name: 7, inputSchema },
  ]);
  await using faulty = await FaultyGateway.start({ odd: { type: "http", url: server.url } });
  const { toolCount } = await faulty.reaches("odd", "ready");
  assert.equal(toolCount, 9);
  const originals = new Set<string>();
  for (const naming of ["original", "namespaced", "flat"]) {
    const client = await EndpointClient.open(`${faulty.url}/s/odd/mcp?names=${naming}`);
    const names = await client.toolNames();
    assert.equal(new Set(names).size, 9, `${naming}: ${names}`);
    const called = await Promise.all(names.map((name) => client.must(name)));
    assert.equal(new Set(called).size, 9, `${naming}: ${called}`);
    for (const text of called) originals.add(text);
  }
  assert.equal(originals.size, 9);
});

Deno.test("faults: 2,000 tools in pages are all there", async () => {
  await using faulty = await FaultyGateway.start({
    large: chaos(["--tools=2000", "--page-size=50"]),
  });
  const { toolCount } = await faulty.reaches("large", "ready");
  assert.ok(toolCount >= 2_000);
  const client = await faulty.open("large");
  assert.equal((await client.toolNames()).length, toolCount);
  assert.match(await client.must("list_issues"), /list_issues was called/);
});

Deno.test("faults: what a server's tools were before stays known when they change, go and return", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await using server = new ScriptedServer([
    { name: "look", description: "Looks", inputSchema },
    { name: "leave", description: "Leaves", inputSchema },
  ]);
  const entries = { remote: { type: "http", url: server.url } };
  const recordedAfterRun = async () => {
    {
      await using faulty = await FaultyGateway.start(entries, { dataDir });
      await faulty.reaches("remote", "ready");
      const client = await faulty.open("remote");
      const names = await client.toolNames();
      assert.deepEqual(names, server.tools.map(({ name }) => name));
    }
    await using store = await Store.open({ location: join(dataDir, "quartermaster.kv") });
    const tools = await new CanonicalToolsRepository(store).list("remote");
    return new Map(tools.map((tool) => [tool.name, tool]));
  };
  const first = await recordedAfterRun();
  assert.equal(first.get("look")?.version, 1);
  assert.deepEqual(first.get("look")?.earlier, []);

  server.tools = [{ name: "look", description: "Looks closely", inputSchema }];
  const second = await recordedAfterRun();
  assert.equal(second.get("look")?.version, 2);
  assert.match(second.get("look")?.current.text ?? "", /Looks closely/);
  assert.match(second.get("look")?.earlier[0]?.text ?? "", /"Looks"/);
  assert.ok(second.get("leave")?.goneSince !== undefined);

  server.tools.push({ name: "leave", description: "Leaves", inputSchema });
  const third = await recordedAfterRun();
  assert.equal(third.get("leave")?.goneSince, undefined);
  assert.equal(third.get("leave")?.version, 1);
  assert.equal(third.get("look")?.version, 2);
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test("faults: a change that a server announces is listed, however often it announces it", async () => {
  await using http = await startHttpFixture("chaos_http", ["--stats"]);
  await using faulty = await FaultyGateway.start({
    loud: { type: "http", url: http.url },
    program: chaos(),
  });
  for (const server of ["loud", "program"]) {
    await faulty.reaches(server, "ready");
    const client = await faulty.open(server);
    const added = await Promise.all(Array.from({ length: 30 }, () => client.must("change-tools")));
    await until(async () => {
      const names = await client.toolNames();
      return added.every((name) => names.includes(name)) || undefined;
    });
  }
  const { lists } = await (await fetch(http.url.replace("/mcp", "/stats"))).json();
  assert.ok(lists <= 8, `listed ${lists} times for 30 changes`);
});
