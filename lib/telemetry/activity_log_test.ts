import assert from "node:assert/strict";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";

const CALL = { endpoint: "mcp?default", session: "s", principal: "everyone", server: "git", ms: 3 };

Deno.test("ActivityLog keeps calls in order and counts days over processes", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  let now = Date.UTC(2026, 0, 31, 23, 59);
  const options = { repository, onWarning: assert.fail, now: () => now };
  {
    await using log = new ActivityLog({ ...options, processId: "a" });
    log.record({ ...CALL, tool: "status", ok: true });
    now += 1;
    log.record({ ...CALL, tool: "log", ok: false });
    await log.flush();
    now += 120_000;
    log.record({ ...CALL, tool: "push", ok: true });
  }
  {
    await using log = new ActivityLog({ ...options, processId: "b" });
    const search = { query: "push", found: [], count: 0, isHit: false };
    log.record({ ...CALL, tool: "tool_discovery", ok: true, search });
    log.recordTokens({ baseline: 1_000, listed: 30, answered: 50 });
  }
  const recent = await Array.fromAsync(repository.recent(2));
  assert.deepEqual(recent.map(({ tool }) => tool).sort(), ["push", "tool_discovery"]);
  const [second, first] = await repository.days();
  assert.deepEqual([first!.day, first!.calls, first!.errors], ["2026-01-31", 2, 1]);
  assert.deepEqual([second!.calls, second!.searches], [1, 1]);
  const { baselineTokens, listedTokens, returnedTokens } = second!;
  assert.deepEqual([baselineTokens, listedTokens, returnedTokens], [1_000, 30, 50]);
});

Deno.test("ActivityLog forgets what is too old", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  let now = Date.UTC(2026, 0, 1);
  await using log = new ActivityLog({
    repository,
    processId: "a",
    onWarning: assert.fail,
    now: () => now,
  });
  log.record({ ...CALL, tool: "old", ok: true });
  await log.flush();
  now += 40 * 24 * 60 * 60_000;
  log.record({ ...CALL, tool: "new", ok: true });
  await log.flush();
  const kept = await Array.fromAsync(repository.recent(10));
  assert.deepEqual(kept.map(({ tool }) => tool), ["new"]);
  assert.equal((await repository.days()).length, 1);
});

Deno.test("ActivityLog loses nothing that was counted just before midnight", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  let now = Date.UTC(2026, 0, 31, 23, 59, 59);
  {
    await using log = new ActivityLog({
      repository,
      processId: "a",
      onWarning: assert.fail,
      now: () => now,
    });
    log.recordTokens({ baseline: 1_000, listed: 0, answered: 50 });
    now += 2_000;
    log.recordTokens({ baseline: 10, listed: 0, answered: 5 });
  }
  const days = await repository.days();
  assert.deepEqual(days.map(({ day, baselineTokens }) => [day, baselineTokens]), [
    ["2026-02-01", 10],
    ["2026-01-31", 1_000],
  ]);
});

Deno.test("ActivityLog makes up for counts that could not be written, also of days that are over", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const append = repository.append.bind(repository);
  let isAway = true;
  repository.append = (...args) =>
    isAway ? Promise.reject(new Error("The store is away")) : append(...args);
  let now = Date.UTC(2026, 0, 31, 23, 59, 59);
  const warnings: string[] = [];
  {
    await using log = new ActivityLog({
      repository,
      processId: "a",
      onWarning: (message) => warnings.push(message),
      now: () => now,
    });
    log.record({ ...CALL, tool: "status", ok: true });
    await log.flush();
    now += 2_000;
    log.recordTokens({ baseline: 10, listed: 0, answered: 5 });
    await log.flush();
    isAway = false;
  }
  assert.equal(warnings.length, 1);
  const days = await repository.days();
  assert.deepEqual(days.map(({ day, calls, baselineTokens }) => [day, calls, baselineTokens]), [
    ["2026-02-01", 0, 10],
    ["2026-01-31", 1, 0],
  ]);
});

Deno.test("ActivityLog keeps the newest calls once they are too many", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  let now = Date.UTC(2026, 0, 1);
  await using log = new ActivityLog({
    repository,
    processId: "a",
    onWarning: assert.fail,
    maxCalls: 4,
    now: () => now,
  });
  for (const tool of ["a", "b", "c", "d", "e", "f"]) {
    log.record({ ...CALL, tool, ok: true });
    now += 2 * 60 * 60_000;
    await log.flush();
  }
  const kept = await Array.fromAsync(repository.recent(10));
  assert.deepEqual(kept.map(({ tool }) => tool), ["f", "e", "d", "c"]);
  assert.equal((await repository.days())[0]!.calls, 6, "all are counted");
});

Deno.test("ActivityLog clears away within the hour where many calls come", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  let now = Date.UTC(2026, 0, 1);
  await using log = new ActivityLog({
    repository,
    processId: "a",
    onWarning: assert.fail,
    maxCalls: 100,
    now: () => now,
  });
  for (const tool of ["a", "b", "c"]) {
    for (let call = 0; call < 1_500; call++) log.record({ ...CALL, tool, ok: true });
    await log.flush();
    now += 2_000;
  }
  const kept = new Set(await Array.fromAsync(repository.recent(10_000), ({ tool }) => tool));
  assert.deepEqual([...kept], ["c"]);
});

Deno.test("ActivityLog.record() gives each call an id of its own", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const options = { repository, onWarning: assert.fail, now: () => Date.UTC(2026, 0, 1) };
  await using one = new ActivityLog({ ...options, processId: "a" });
  await using other = new ActivityLog({ ...options, processId: "b" });
  const ids = [one, one, other].map((log) => log.record({ ...CALL, tool: "x", ok: true }).id);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(one.unwritten().map(({ id }) => id), [ids[1], ids[0]]);
});

/** A log whose store can be away, with what it warns of. */
async function openLog() {
  const store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const append = repository.append.bind(repository);
  const state = { isAway: false, now: Date.UTC(2026, 0, 1) };
  repository.append = (...args) =>
    state.isAway ? Promise.reject(new Error("The store is away")) : append(...args);
  const warnings: { message: string; waiting?: number; lost?: number }[] = [];
  const log = new ActivityLog({
    repository,
    processId: "a",
    onWarning: (message, details) => warnings.push({ message, ...details }),
    now: () => state.now,
  });
  return {
    log,
    repository,
    state,
    warnings,
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

Deno.test("ActivityLog writes calls later that could not be written, each where it is found", async () => {
  await using open = await openLog();
  const { log, repository, state, warnings } = open;
  state.isAway = true;
  const ids: string[] = [];
  for (let minute = 0; minute < 5; minute++) {
    ids.unshift(log.record({ ...CALL, tool: `t${minute}`, ok: true }).id);
    await log.flush();
    assert.equal(log.unwritten().length, minute + 1);
    state.now += 40_000;
  }
  assert.deepEqual(warnings.map(({ waiting, lost }) => [waiting, lost]), [[1, 0], [3, 0], [5, 0]]);
  state.isAway = false;
  await log.flush();
  assert.deepEqual(log.unwritten(), []);
  assert.deepEqual(await Array.fromAsync(repository.recent(10), ({ id }) => id), ids);
  for (const id of ids) assert.equal((await repository.find(id))?.id, id);
});

Deno.test("ActivityLog says once a minute how many calls were lost, and keeps the newest", async () => {
  await using open = await openLog();
  const { log, repository, state, warnings } = open;
  const record = (count: number, tool: string) => {
    for (let nth = 0; nth < count; nth++, state.now++) log.record({ ...CALL, tool, ok: true });
  };
  record(2_007, "a");
  await log.flush();
  assert.deepEqual(warnings.map(({ lost }) => lost), [7]);
  state.isAway = true;
  record(1_500, "b");
  await log.flush();
  record(1_500, "c");
  await log.flush();
  assert.equal(warnings.length, 1, "a minute is not over");
  state.now += 60_000;
  await log.flush();
  assert.deepEqual([warnings[1]?.waiting, warnings[1]?.lost], [2_000, 1_000]);
  state.isAway = false;
  await log.flush();
  const written = await Array.fromAsync(repository.recent(4_001), ({ tool }) => tool);
  assert.equal(written.length, 4_000);
  assert.deepEqual([written[0], written[1_500], written[2_000]], ["c", "b", "a"]);
  assert.equal((await repository.days())[0]?.calls, 5_007, "all are counted");
});

Deno.test("ActivityLog says at its end what it could not write", async () => {
  const open = await openLog();
  open.log.record({ ...CALL, tool: "a", ok: true });
  open.state.isAway = true;
  await open[Symbol.asyncDispose]();
  assert.equal(open.warnings.at(-1)?.lost, 1);
});

Deno.test("ActivityLog.clear() forgets calls, written or not, and keeps the counts", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  let now = Date.UTC(2026, 0, 1);
  await using log = new ActivityLog({
    repository,
    processId: "a",
    onWarning: assert.fail,
    now: () => now,
  });
  log.record({ ...CALL, tool: "written", ok: true });
  await log.flush();
  log.record({ ...CALL, tool: "waiting", ok: true });
  await log.clear();
  assert.deepEqual([log.unwritten(), await Array.fromAsync(repository.recent(10))], [[], []]);
  assert.equal((await repository.days())[0]?.calls, 2);
  now += 1;
  log.record({ ...CALL, tool: "later", ok: true });
  await log.flush();
  assert.deepEqual(await Array.fromAsync(repository.recent(10), ({ tool }) => tool), ["later"]);
});
