import assert from "node:assert/strict";
import { type Entries, FaultyGateway, memoryOf, pause } from "./faults.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";

Deno.test("faults: of 400 servers 100 are dead, and the other 300 are ready at once", async () => {
  await using http = await startHttpFixture("chaos_http");
  const entries: Entries = {};
  for (let index = 0; index < 300; index++) {
    entries[`live_${index}`] = { type: "http", url: http.url.replace("/mcp", `/s/${index}/mcp`) };
  }
  const closed = closedPort();
  for (let index = 0; index < 100; index++) {
    entries[`dead_${index}`] = { type: "http", url: `http://127.0.0.1:${closed}/s/${index}/mcp` };
  }
  await using faulty = await FaultyGateway.start(entries);
  const started = performance.now();
  let slowest = 0;
  let ready = 0;
  while (ready < 300) {
    const before = performance.now();
    assert.equal((await fetch(`${faulty.url}/healthz`)).status, 200);
    slowest = Math.max(slowest, performance.now() - before);
    ({ servers: { ready } } = await (await fetch(`${faulty.url}/readyz`)).json());
    assert.ok(performance.now() - started < 180_000, `${ready} of 300 are ready after 3 min`);
    await pause(50);
  }
  const seconds = (performance.now() - started) / 1000;
  const client = await faulty.open("live_299");
  assert.equal(await client.must("echo", { n: 1 }), '{"n":1}');
  const statuses = await faulty.statuses();
  const dead = [...statuses.values()].filter(({ name }) => name.startsWith("dead_"));
  assert.equal(dead.length, 100);
  for (const { state, reason } of dead) {
    assert.equal(state, "failed");
    assert.match(reason, /the connection was refused; retrying soon/);
  }
  await pause(1_000);
  const memory = await memoryOf(faulty.gateway.pid);
  report(
    `300 of 400 servers ready ${seconds.toFixed(1)} s after the start, ` +
      `healthz ${slowest.toFixed(0)} ms at worst, ${memory.toFixed(0)} MB idle`,
  );
  assert.ok(memory < 300, `${memory} MB`);
});

/** A port that was just free, and that nobody listens on. */
function closedPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function report(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}
