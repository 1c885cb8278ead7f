/** The faults again and again: `deno run -A tests/soak/faults_soak.ts [ROUNDS]` (100 unless told). */
import assert from "node:assert/strict";
import { chaos, errorType, FaultyGateway, memoryOf } from "../faults.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";

const inputSchema = { type: "object" };

function report(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Runs one round after the other and reports how the gateway's memory went. */
async function repeat(
  what: string,
  rounds: number,
  faulty: FaultyGateway,
  round: (index: number) => Promise<void>,
): Promise<void> {
  const started = performance.now();
  const before = await memoryOf(faulty.gateway.pid);
  let half = before;
  for (let index = 0; index < rounds; index++) {
    await round(index);
    if (index === Math.floor(rounds / 2)) half = await memoryOf(faulty.gateway.pid);
  }
  const after = await memoryOf(faulty.gateway.pid);
  const seconds = (performance.now() - started) / 1000;
  const memory = [before, half, after].map((mb) => mb.toFixed(0)).join(" -> ");
  report(`${what}: ${rounds} rounds in ${seconds.toFixed(0)} s, ${memory} MB`);
}

async function killPrograms(rounds: number): Promise<void> {
  await using faulty = await FaultyGateway.start({ victim: chaos(), other: chaos() });
  await faulty.reaches("victim", "ready");
  await faulty.reaches("other", "ready");
  const neighbor = await faulty.open("other");
  const clients = [await faulty.open("victim"), await faulty.open("victim", { roots: {} })];
  await repeat("kill -9 in mid-call", rounds, faulty, async (index) => {
    const client = clients[index % clients.length]!;
    const { pid } = JSON.parse(await client.must("pid"));
    const calling = client.call("sleep", { ms: 60_000 });
    const unaffected = neighbor.must("echo", { index });
    Deno.kill(pid, "SIGKILL");
    assert.equal(errorType(await calling), "SERVER_DISCONNECTED");
    assert.equal(await unaffected, `{"index":${index}}`);
    assert.notEqual(JSON.parse(await client.must("pid")).pid, pid);
    assert.ok((await faulty.processes()).length <= 6);
  });
}

async function loseSessions(rounds: number): Promise<void> {
  await using server = new ScriptedServer([{ name: "look", inputSchema }]);
  await using faulty = await FaultyGateway.start({ remote: { type: "http", url: server.url } });
  await faulty.reaches("remote", "ready");
  const clients = [await faulty.open("remote"), await faulty.open("remote", { roots: {} })];
  await repeat("sessions forgotten", rounds, faulty, async () => {
    server.forgetSessions();
    const calls = clients.flatMap((client) => Array.from({ length: 5 }, () => client.must("look")));
    await Promise.all(calls);
  });
}

async function reload(rounds: number): Promise<void> {
  const steady = { steady: chaos() };
  await using faulty = await FaultyGateway.start(steady);
  await faulty.reaches("steady", "ready");
  const client = await faulty.open("steady");
  const { pid } = JSON.parse(await client.must("pid"));
  let isOver = false;
  const load = (async () => {
    while (!isOver) await client.must("echo");
  })();
  await repeat("reload under load", rounds, faulty, async (index) => {
    const extra = `extra_${index % 3}`;
    await faulty.configure({ ...steady, [extra]: chaos([`--tools=${index}`]) });
    await faulty.reaches(extra, "ready");
    await faulty.writeRaw("{ broken");
    await faulty.configure(steady);
    await until(async () => (await faulty.statuses()).size === 1 || undefined);
  });
  isOver = true;
  await load;
  assert.equal(JSON.parse(await client.must("pid")).pid, pid);
}

async function killGateways(rounds: number): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const entries = { program: chaos(["--stubborn-grandchild"]) };
  let killed: FaultyGateway | undefined;
  for (let index = 0; index < rounds; index++) {
    const next = await FaultyGateway.start(entries, { dataDir });
    await next.reaches("program", "ready");
    const last = killed;
    if (last) {
      await until(async () => (await last.processes()).length === 0 || undefined);
      await Deno.remove(last.folder, { recursive: true });
    }
    await next.gateway.stop(index === rounds - 1 ? "SIGTERM" : "SIGKILL");
    killed = next;
  }
  await killed?.[Symbol.asyncDispose]();
  await Deno.remove(dataDir, { recursive: true });
  report(`kill -9 of the gateway: ${rounds} rounds`);
}

if (import.meta.main) {
  const rounds = Number(Deno.args[0] ?? 100);
  await killPrograms(rounds);
  await loseSessions(rounds);
  await reload(Math.ceil(rounds / 5));
  await killGateways(Math.ceil(rounds / 10));
}
