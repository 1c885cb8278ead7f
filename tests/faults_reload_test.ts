import assert from "node:assert/strict";
import { chaos, FaultyGateway, pause } from "./faults.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";

/** Calls without a break until told to stop; every failure counts. */
async function keepCalling(faulty: FaultyGateway, server: string, signal: AbortSignal) {
  const client = await faulty.open(server);
  let calls = 0;
  while (!signal.aborted) {
    assert.equal(await client.must("echo", { calls }), `{"calls":${calls}}`);
    calls++;
    await pause(5);
  }
  return calls;
}

Deno.test("faults: a reload under load fails no call of the servers it does not change", async (t) => {
  await using http = await startHttpFixture("chaos_http");
  const steady = { program: chaos(), remote: { type: "http", url: http.url } };
  await using faulty = await FaultyGateway.start(steady);
  await faulty.reaches("program", "ready");
  await faulty.reaches("remote", "ready");
  const pids = async () => JSON.parse(await (await faulty.open("program")).must("pid")).pid;
  const pid = await pids();
  const stop = new AbortController();
  const load = Promise.all(
    ["program", "program", "remote", "remote"].map((server) =>
      keepCalling(faulty, server, stop.signal)
    ),
  );
  load.catch(() => {});

  const readyz = async () => await (await fetch(`${faulty.url}/readyz`)).json();
  await t.step("added", async () => {
    await faulty.configure({ ...steady, extra: chaos() });
    await faulty.reaches("extra", "ready");
  });
  const extra = await faulty.open("extra");
  const asked = await faulty.open("extra", { roots: {} });

  await t.step("changed: its clients go on, and a call in flight comes to its end", async () => {
    const first = JSON.parse(await extra.must("pid")).pid;
    const inFlight = [extra, asked].map((client) => client.must("sleep", { ms: 2_000 }));
    await pause(200);
    await faulty.configure({ ...steady, extra: chaos(["--tools=5"]) });
    await until(async () =>
      (await faulty.statuses()).get("extra")?.state === "ready" &&
        (await extra.toolNames()).includes("list_issues") || undefined
    );
    assert.notEqual(JSON.parse(await extra.must("pid")).pid, first);
    assert.equal(await asked.must("list_issues"), "list_issues was called");
    assert.deepEqual(await Promise.all(inFlight), ["Slept 2000 ms", "Slept 2000 ms"]);
  });

  await t.step("broken: everything stays as it was, and says so", async () => {
    await faulty.writeRaw('{ "mcpServers": { "program": ');
    const { degraded } = await until(async () => {
      const ready = await readyz();
      return ready.degraded.length > 0 ? ready : undefined;
    });
    assert.deepEqual(degraded, [
      "The config file has an error, so the last valid version is in use",
    ]);
    assert.match(faulty.gateway.log(), /the previous one stays in use: .*\.mcp\.json:1:\d+/);
    for (const text of ["", "[]", '{"mcpServers": 5}', "\0\0"]) {
      await faulty.writeRaw(text);
      await pause(300);
      assert.equal((await faulty.statuses()).size, 3, `after ${JSON.stringify(text)}`);
    }
    assert.equal(await extra.must("echo"), "{}");
  });

  await t.step("mended, and one removed", async () => {
    await faulty.configure(steady);
    await until(async () => (await faulty.statuses()).has("extra") ? undefined : true);
    assert.deepEqual((await readyz()).degraded, []);
    await until(async () => (await faulty.processes()).length === 1 || undefined);
  });

  await t.step("added again: its old session has ended, a new one works", async () => {
    await faulty.configure({ ...steady, extra: chaos() });
    await faulty.reaches("extra", "ready");
    assert.match((await extra.call("echo")).error?.message ?? "", /Session not found/);
    assert.equal(await (await faulty.open("extra")).must("echo"), "{}");
  });

  await t.step("not one call of the others has failed", async () => {
    stop.abort();
    const counts = await load;
    assert.ok(counts.every((count) => count > 50), String(counts));
    assert.equal(await pids(), pid, "its program was not touched");
  });
});

Deno.test("faults: a server that hangs at start does not hold up the next change", async () => {
  await using faulty = await FaultyGateway.start({ slow: chaos(["--hang-on-start"]) });
  await faulty.reaches("slow", "starting");
  await until(async () => (await faulty.processes()).length === 1 || undefined);
  await faulty.configure({ slow: chaos() });
  await faulty.reaches("slow", "ready");
  assert.equal(await (await faulty.open("slow")).must("echo"), "{}");
  await until(async () => (await faulty.processes()).length === 1 || undefined);
});
