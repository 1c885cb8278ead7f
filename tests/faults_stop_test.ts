import assert from "node:assert/strict";
import { join } from "@std/path";
import { findMarked } from "../lib/servers/processes/process_group.ts";
import { chaos, FaultyGateway, pause } from "./faults.ts";
import { until } from "./gateway.ts";

Deno.test("faults: SIGTERM ends a stubborn program with its stubborn child within 5 s", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_faults_" });
  for (const load of ["idle", "with calls in flight"]) {
    await t.step(load, async () => {
      const pidFile = join(folder, "grandchild");
      await using faulty = await FaultyGateway.start({
        stubborn: chaos(["--stubborn-grandchild", `--pid-file=${pidFile}`]),
        hangs: chaos(["--hang-on-start"]),
      });
      await faulty.reaches("stubborn", "ready");
      const grandchild = Number(await Deno.readTextFile(pidFile));
      assert.ok((await faulty.processes()).includes(grandchild));
      const clients = load === "idle"
        ? []
        : await Promise.all([faulty.open("stubborn"), faulty.open("stubborn", { roots: {} })]);
      const calls = clients.map((client) => client.call("sleep", { ms: 300_000 }).catch(() => {}));
      await pause(500);
      // One that waits for the calls is killed in the end, and its code says so.
      const { code } = await faulty.gateway.stop();
      assert.equal(code, 0, faulty.gateway.log());
      assert.deepEqual(await faulty.processes(), []);
      await Promise.all(calls);
    });
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("faults: what a killed gateway left is ended by the next one, and no living one's", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const entries = { program: chaos(["--stubborn-grandchild"]) };
  const killed = await FaultyGateway.start(entries, { dataDir });
  await using living = await FaultyGateway.start(entries, { dataDir });
  await killed.reaches("program", "ready");
  await living.reaches("program", "ready");
  const kept = await living.processes();
  assert.equal(kept.length, 2);

  await killed.gateway.stop("SIGKILL");
  assert.equal((await findMarked(killed.marker)).length, 2, "they outlive a kill -9");
  const client = await living.open("program");
  await using next = await FaultyGateway.start(entries, { dataDir });
  await until(async () => (await findMarked(killed.marker)).length === 0 || undefined);
  // Whichever of the two looked first.
  await until(() => {
    const logs = next.gateway.log() + living.gateway.log();
    return logs.includes("Ended processes that a killed gateway left running") || undefined;
  });
  assert.deepEqual((await living.processes()).toSorted(), kept.toSorted());
  assert.equal(await client.must("echo"), "{}");
  await next.reaches("program", "ready");

  await next.gateway.stop();
  await living.gateway.stop();
  await Deno.remove(killed.folder, { recursive: true });
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test("faults: a stop while everything is still connecting leaves nothing", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `server_${index}`);
  const entries = Object.fromEntries(names.map((name, index) => [
    name,
    chaos(index % 2 === 0 ? [] : ["--slow-list=20000"]),
  ]));
  for (const waitMs of [0, 150, 400]) {
    const faulty = await FaultyGateway.start(entries);
    await pause(waitMs);
    assert.equal((await faulty.gateway.stop()).code, 0, faulty.gateway.log());
    await faulty[Symbol.asyncDispose]();
  }
});
