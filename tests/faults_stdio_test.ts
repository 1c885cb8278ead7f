import assert from "node:assert/strict";
import { chaos, EndpointClient, errorType, FaultyGateway, memoryOf, pause } from "./faults.ts";
import { until } from "./gateway.ts";

Deno.test("faults: kill -9 of a program in mid-call fails that call, and the next one works", async (t) => {
  await using faulty = await FaultyGateway.start({ victim: chaos(), other: chaos() });
  await faulty.reaches("victim", "ready");
  await faulty.reaches("other", "ready");
  const neighbor = await faulty.open("other");
  // A client that a server may ask something has a connection, and so a program, of its own.
  for (const [kind, capabilities] of [["shared", {}], ["own", { roots: {} }]] as const) {
    await t.step(kind, async () => {
      const client = await faulty.open("victim", capabilities);
      const { pid } = JSON.parse(await client.must("pid"));
      const calling = client.call("sleep", { ms: 30_000 });
      const unaffected = neighbor.must("sleep", { ms: 1_500 });
      await pause(200);
      Deno.kill(pid, "SIGKILL");
      const value = await calling;
      assert.equal(errorType(value), "SERVER_DISCONNECTED");
      assert.match(JSON.stringify(value), /exited with code 137 \(SIGKILL\)/);
      assert.notEqual(JSON.parse(await client.must("pid")).pid, pid);
      assert.equal(await unaffected, "Slept 1500 ms");
    });
  }
  assert.equal((await faulty.reaches("victim", "ready")).lastError?.includes("SIGKILL"), true);
});

Deno.test("faults: servers that do not start, list or speak properly delay nobody", async (t) => {
  const started = performance.now();
  await using faulty = await FaultyGateway.start({
    good: chaos(),
    hangs: chaos(["--hang-on-start", "--stderr-flood=3"], { startTimeoutMs: 600_000 }),
    crashes: chaos(["--crash-on-start"]),
    endless: chaos(["--endless-list"]),
    garbage: chaos(["--garbage"]),
    invalid: chaos(["--invalid-tool"]),
    slow: chaos(["--slow-list=8000"]),
    missing: { command: "no-such-program-anywhere" },
  }, { flags: ["--log-level", "debug"] });
  const good = await (await until(async () => {
    const status = (await faulty.statuses()).get("good");
    return status?.state === "ready" ? faulty.open("good") : undefined;
  }));
  assert.equal(await good.must("echo", { n: 1 }), '{"n":1}');
  assert.equal((await faulty.statuses()).get("slow")?.state, "starting");

  await t.step("garbage on stdout is skipped", async () => {
    await faulty.reaches("garbage", "ready");
    const client = await faulty.open("garbage");
    assert.equal(await client.must("echo", { n: 2 }), '{"n":2}');
    assert.match(faulty.gateway.log(), /Skipped a line that is not a JSON-RPC message: not json/);
  });

  await t.step("an invalid tool is kept back, the rest works", async () => {
    const { toolCount } = await faulty.reaches("invalid", "ready");
    const client = await faulty.open("invalid");
    const names = await client.toolNames();
    assert.ok(!names.includes("invalid"));
    assert.equal(names.length, toolCount);
    assert.equal(await client.must("echo"), "{}");
    assert.match(faulty.gateway.log(), /"tool":"invalid".*it is not a valid MCP tool/);
  });

  await t.step("one that lists forever is stopped", async () => {
    const { reason } = await faulty.reaches("endless", "failed");
    assert.match(reason, /never finishes its list of tools; retrying soon/);
  });

  await t.step("a program that is missing is named", async () => {
    const { reason } = await faulty.reaches("missing", "failed");
    assert.match(reason, /command "no-such-program-anywhere" is not on PATH; retrying soon/);
  });

  await t.step("a crash loop says why, grows slower and stays one process", async () => {
    const { reason, since } = await faulty.reaches("crashes", "failed");
    assert.match(
      reason,
      /exited with code 1 before completing the MCP handshake\. Output: Cannot start: told to crash; retrying/,
    );
    // It waits 0.5, 1, 2, 4 s at most between tries, and half of that at least.
    const seconds = (performance.now() - started) / 1000;
    const tries = countCrashes(faulty);
    assert.ok(tries >= 2 && tries <= 2 + Math.log2(4 * seconds), `${tries} in ${seconds} s`);
    assert.equal((await faulty.statuses()).get("crashes")?.since, since, "it was failed all along");
    assert.ok((await faulty.processes()).length <= 8);
    await assert.rejects(faulty.open("crashes"), /is failed: .*Output: Cannot start/s);
  });

  await t.step("a slow list comes in its time", async () => {
    await faulty.reaches("slow", "ready");
  });

  await t.step("one that hangs is still being waited for, and ends with the gateway", async () => {
    assert.equal((await faulty.statuses()).get("hangs")?.state, "starting");
    assert.equal((await faulty.gateway.stop()).code, 0);
    assert.deepEqual(await faulty.processes(), []);
  });
});

/** How often the program that crashes has been started. */
function countCrashes(faulty: FaultyGateway): number {
  return faulty.gateway.log().split("\n").filter((line) =>
    line.includes('"line":"Cannot start: told to crash"')
  ).length;
}

Deno.test("faults: of a flood on stderr the last 1,000 lines are kept", async () => {
  await using faulty = await FaultyGateway.start({ loud: chaos(["--stderr-flood=3000"]) });
  await faulty.reaches("loud", "ready");
  const client = await EndpointClient.open(`${faulty.url}/gateway/mcp`);
  const numbers = await until(async () => {
    const text = await client.must("get_server_logs", { name: "loud", lines: 1_000 });
    const found = text.split("\n").map((line) =>
      Number(/ Line (\d+) of the flood$/.exec(line)?.[1])
    );
    return found.at(-1) === 3_000 ? found : undefined;
  });
  assert.deepEqual(numbers, Array.from({ length: 1_000 }, (_, index) => index + 2_001));
});

Deno.test("faults: a line of 1 GB is refused and the gateway stays small", async () => {
  await using faulty = await FaultyGateway.start({
    huge: chaos(["--huge-line=1000000000"], { timeoutMs: 300_000 }),
  });
  await faulty.reaches("huge", "ready");
  const client = await faulty.open("huge");
  const before = await memoryOf(faulty.gateway.pid);
  const calling = client.call("big");
  let most = 0;
  let isOver = false;
  calling.finally(() => isOver = true);
  while (!isOver) {
    most = Math.max(most, await memoryOf(faulty.gateway.pid));
    await pause(100);
  }
  assert.equal(errorType(await calling), "LIMIT_EXCEEDED");
  assert.ok(most - before < 150, `grew from ${before} to ${most} MB`);
  assert.equal(await client.must("echo", { n: 1 }), '{"n":1}');
});

Deno.test("faults: fifty clients at once wake one process of a lazy server", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const servers = { lazy: chaos([], { lazy: true }) };
  {
    // The first start learns the tools.
    await using faulty = await FaultyGateway.start(servers, { dataDir });
    await faulty.reaches("lazy", "ready");
  }
  await using faulty = await FaultyGateway.start(servers, { dataDir });
  const { reason, toolCount } = await faulty.reaches("lazy", "ready");
  assert.equal(reason, "Asleep: starts on the next call");
  assert.ok(toolCount > 0);
  assert.deepEqual(await faulty.processes(), []);
  const clients = await Promise.all(Array.from({ length: 50 }, () => faulty.open("lazy")));
  const answers = await Promise.all(clients.map((client) => client.must("pid")));
  assert.equal(new Set(answers).size, 1);
  assert.equal((await faulty.processes()).length, 1);
  await faulty.gateway.stop();
  await Deno.remove(dataDir, { recursive: true });
});
