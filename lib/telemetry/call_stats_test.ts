import assert from "node:assert/strict";
import { CallStats } from "./call_stats.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.UTC(2026, 0, 2, 12);

function call(at: number, more: { server?: string; ms?: number; ok?: boolean } = {}) {
  return { at, server: "git", ms: 10, ok: true, ...more };
}

Deno.test("CallStats.timeline() counts calls and errors by their time, oldest first", () => {
  const stats = new CallStats({ now: () => NOON + 30_000 });
  stats.add(call(NOON));
  stats.add(call(NOON - 5 * MINUTE, { ok: false }));
  stats.add(call(NOON - 4 * MINUTE));
  assert.deepEqual(stats.timeline(3, 5), [
    { at: NOON - 10 * MINUTE, calls: 0, errors: 0 },
    { at: NOON - 5 * MINUTE, calls: 2, errors: 1 },
    { at: NOON, calls: 1, errors: 0 },
  ]);
});

Deno.test("CallStats.timeline() forgets what is a day old, in whatever order it came", () => {
  let now = NOON;
  const stats = new CallStats({ now: () => now });
  stats.add(call(NOON));
  now += 24 * HOUR;
  assert.equal(stats.timeline(24, 60).reduce((sum, { calls }) => sum + calls, 0), 0);
  stats.add(call(now));
  // In the same place of the ring as the one before.
  stats.add(call(NOON));
  assert.equal(stats.timeline(1, 1)[0]?.calls, 1);
});

Deno.test("CallStats.servers() tells calls, errors and quantiles of the last day, most calls first", () => {
  let now = NOON;
  const stats = new CallStats({ now: () => now });
  for (let index = 1; index <= 100; index++) stats.add(call(NOON, { ms: index }));
  stats.add(call(NOON - 2 * HOUR, { server: "slow", ms: 4_000, ok: false }));
  const [git, slow] = stats.servers();
  assert.deepEqual([git?.server, git?.calls, git?.errors], ["git", 100, 0]);
  assert.ok(git && Math.abs(git.p50 - 50) < 5 && Math.abs(git.p95 - 95) < 10);
  assert.deepEqual([slow?.server, slow?.calls, slow?.errors], ["slow", 1, 1]);
  now += 25 * HOUR;
  assert.deepEqual(stats.servers(), []);
});

Deno.test("CallStats.servers() keeps those called last of very many", () => {
  const stats = new CallStats({ now: () => NOON });
  for (let index = 0; index < 1_010; index++) stats.add(call(NOON, { server: `s${index}` }));
  const names = stats.servers().map(({ server }) => server);
  assert.equal(names.length, 1_000);
  assert.ok(names.includes("s1009") && !names.includes("s0"));
});
