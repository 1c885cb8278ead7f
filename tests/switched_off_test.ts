import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { chaos, errorType, FaultyGateway } from "./faults.ts";
import { connectChaos } from "./fixtures/exercise_chaos.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";

Deno.test("a server that is switched off while the gateway runs takes its tools with it, and brings them back", async () => {
  await using http = await startHttpFixture("chaos_http");
  const on = { remote: { type: "http", url: http.url }, lazy: chaos([], { lazy: true }) };
  const off = {
    remote: { ...on.remote, disabled: true },
    lazy: { ...on.lazy, disabled: true },
  };
  await using faulty = await FaultyGateway.start(on);
  for (const server of ["remote", "lazy"]) {
    await faulty.configure(on);
    await faulty.reaches(server, "ready");
    const url = new URL(`/servers/${server}/mcp?names=original`, faulty.url);
    await using listening = await connectChaos(new StreamableHTTPClientTransport(url) as never);
    await listening.call("echo");
    const client = await faulty.open(server);
    const names = (await client.toolNames()).sort();
    assert.ok(names.includes("echo"));

    await faulty.configure(off);
    await faulty.reaches(server, "disabled");
    assert.deepEqual(await client.toolNames(), []);
    const toldOf = () => listening.heard.filter((line) => line === "tools changed").length;
    // Before it lists: a client that has the new list is not told of it.
    await until(() => Promise.resolve(toldOf() > 0 || undefined));
    assert.deepEqual((await listening.client.listTools()).tools, []);
    assert.equal((await faulty.statuses()).get(server)?.toolCount, 0);
    assert.equal(errorType(await client.call("echo")), "SERVER_NOT_RUNNING");
    await assert.rejects(faulty.open(server), /is disabled: Switched off in its entry/);
    const told = toldOf();

    await faulty.configure(on);
    await faulty.reaches(server, "ready");
    assert.deepEqual((await client.toolNames()).sort(), names);
    assert.equal(await client.must("echo"), "{}");
    assert.equal(await listening.call("echo"), "{}");
    await until(() => Promise.resolve(toldOf() > told || undefined));
  }
});

Deno.test("a server that was switched off, removed and added again is found anew by those who had its endpoint open", async () => {
  await using http = await startHttpFixture("chaos_http");
  const other = { other: { type: "http", url: http.url } };
  const on = { ...other, remote: { type: "http", url: http.url } };
  await using faulty = await FaultyGateway.start(on);
  await faulty.reaches("remote", "ready");
  const client = await faulty.open("remote");
  await client.must("echo");
  await faulty.configure({ ...on, remote: { ...on.remote, disabled: true } });
  await faulty.reaches("remote", "disabled");
  await faulty.configure(other);
  await until(async () => !(await faulty.statuses()).has("remote") || undefined);
  await faulty.configure(on);
  await faulty.reaches("remote", "ready");
  assert.match((await client.call("echo")).error?.message ?? "", /Session not found/);
  assert.equal(await (await faulty.open("remote")).must("echo"), "{}");
});
