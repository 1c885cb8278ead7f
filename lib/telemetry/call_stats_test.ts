import assert from "node:assert/strict";
import { CallStats, countCalls, countUses, CoUse, Durations, SearchPicks } from "./call_stats.ts";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.UTC(2026, 0, 2, 12);

function call(at: number, more: Partial<Parameters<CallStats["add"]>[0]> = {}) {
  return { at, server: "git", tool: "status", session: "s", ms: 10, ok: true, ...more };
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

Deno.test("CallStats.use() counts the last day, and knows the last use before it", () => {
  let now = NOON;
  const stats = new CallStats({ now: () => now });
  assert.deepEqual(stats.use("git", "status"), { calls: 0, errors: 0 });
  stats.add(call(NOON - 3 * HOUR));
  stats.add(call(NOON - HOUR, { ok: false }));
  // In any order, as the record is read from its end.
  stats.add(call(NOON - 30 * 24 * HOUR));
  stats.add(call(NOON - 48 * HOUR, { tool: "push" }));
  assert.deepEqual(stats.use("git", "status"), { calls: 2, errors: 1, lastAt: NOON - HOUR });
  assert.deepEqual(stats.use("git", "push"), { calls: 0, errors: 0, lastAt: NOON - 48 * HOUR });
  assert.deepEqual(stats.use("git"), { calls: 2, errors: 1, lastAt: NOON - HOUR });
  assert.equal(stats.oldest, NOON - 30 * 24 * HOUR);
  now += 22 * HOUR;
  assert.deepEqual(stats.use("git", "status"), { calls: 1, errors: 1, lastAt: NOON - HOUR });
  now += 24 * HOUR;
  assert.deepEqual(stats.use("git", "status"), { calls: 0, errors: 0, lastAt: NOON - HOUR });
});

Deno.test("CallStats.server() tells one server's calls by the hour", () => {
  const stats = new CallStats({ now: () => NOON });
  stats.add(call(NOON - 23 * HOUR));
  stats.add(call(NOON, { ms: 100, ok: false }));
  stats.add(call(NOON, { server: "docker" }));
  const { hours, calls, errors, p95, lastAt } = stats.server("git");
  assert.deepEqual([hours.length, calls, errors, lastAt], [24, 2, 1, NOON]);
  assert.deepEqual(hours[0], { at: NOON - 23 * HOUR, calls: 1, errors: 0 });
  assert.deepEqual(hours.at(-1), { at: NOON, calls: 1, errors: 1 });
  near(p95, 100);
  assert.equal(stats.server("nobody").calls, 0);
});

function near(actual: number, wanted: number): void {
  assert.ok(Math.abs(actual / wanted - 1) < 0.1, `${actual} is not near ${wanted}`);
}

Deno.test("Durations.quantile() is within a tenth of the true one", () => {
  const durations = new Durations();
  for (let ms = 1; ms <= 1_000; ms++) durations.add(ms);
  near(durations.quantile(0.5), 500);
  near(durations.quantile(0.95), 950);
  near(durations.quantile(1), 1_000);
});

Deno.test("Durations.quantile() is 0 without durations, and finite for the longest", () => {
  const durations = new Durations();
  assert.equal(durations.quantile(0.5), 0);
  durations.add(0);
  durations.add(1e12);
  assert.ok(durations.quantile(0.5) < 1);
  assert.ok(Number.isFinite(durations.quantile(1)));
});

Deno.test("Durations.addAll() counts those of another as its own", () => {
  const [quick, slow] = [new Durations(), new Durations()];
  quick.add(10);
  slow.add(1_000);
  slow.add(1_000);
  quick.addAll(slow);
  near(quick.quantile(0.5), 1_000);
});

const DAY = 24 * 60 * 60_000;

Deno.test("countCalls() counts what was called before and after, each once", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const onWarning = (message: string) => assert.fail(message);
  let now = Date.now() - 2 * DAY;
  await using activity = new ActivityLog({ repository, processId: "p", onWarning, now: () => now });
  const call = (tool: string, ok = true) =>
    activity.record({
      endpoint: "mcp?",
      session: "s",
      principal: "everyone",
      server: "git",
      tool,
      ms: 5,
      ok,
    });
  call("two_days_ago");
  await activity.flush();
  now = Date.now() - 60_000;
  call("kept");
  await activity.flush();
  call("waits_for_the_store", false);
  // Before it is asked for, and no earlier by the clock.
  now = Date.now() + 1_000;
  call("just_now");
  const { stats, loaded, complete } = countCalls({ activity, repository, onWarning });
  now = Date.now();
  call("live");
  await activity.flush();
  await loaded;
  assert.deepEqual(stats.servers().map(({ calls, errors }) => [calls, errors]), [[4, 1]]);
  assert.deepEqual(stats.use("git", "waits_for_the_store").errors, 1);
  await complete;
  const { calls, lastAt } = stats.use("git", "two_days_ago");
  assert.equal(calls, 0);
  assert.ok(lastAt !== undefined && lastAt < Date.now() - DAY);
});

/** The logs of two processes on one store; the other one's clock is a second behind. */
async function openTwoLogs() {
  const stack = new AsyncDisposableStack();
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const repository = new ActivityRepository(store);
  const onWarning = (message: string) => assert.fail(message);
  const at = Date.now() - 1_000;
  const now = () => at;
  return {
    repository,
    onWarning,
    activity: stack.use(new ActivityLog({ repository, processId: "here", onWarning })),
    there: stack.use(new ActivityLog({ repository, processId: "there", onWarning, now })),
    at,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

Deno.test("countCalls() counts what another process tells, and not twice what the record had", async () => {
  await using logs = await openTwoLogs();
  const { activity, repository, onWarning, there, at } = logs;
  const call = (tool: string) =>
    there.record({
      endpoint: "mcp?",
      session: "s",
      principal: "everyone",
      server: "git",
      tool,
      ms: 5,
      ok: true,
    });
  const written = call("written");
  await there.flush();
  const { stats, loaded } = countCalls({ activity, repository, onWarning });
  await loaded;
  const late = call("written_later");
  for (const heard of [written, late, late, { ...late, id: "x-y-1", at: at - DAY }]) {
    activity.hear(heard);
  }
  activity.hear({ ...late, id: "x-y-2", at: Date.now() + 1 });
  assert.equal(stats.servers()[0]?.calls, 3);
});

Deno.test("countUses() counts each call once, and none that were cleared while they were read", async () => {
  await using logs = await openTwoLogs();
  const { activity, repository, onWarning, there } = logs;
  const call = { endpoint: "mcp?", session: "s", principal: "everyone", ms: 5, ok: true };
  const search = there.record({
    ...call,
    server: "quartermaster",
    tool: "tool_discovery",
    search: { query: "look", found: [], count: 0, isHit: true },
  });
  const pick = there.record({ ...call, server: "git", tool: "status", searchId: search.id });
  await there.flush();
  const { picks, loaded } = countUses({ activity, repository, onWarning });
  await loaded;
  activity.hear(search);
  activity.hear(pick);
  assert.deepEqual(picks.of("everyone"), [{ query: "look", key: "git.status", times: 1 }]);
  const cleared = countUses({ activity, repository, onWarning });
  cleared.forgetPicks();
  await cleared.loaded;
  assert.deepEqual(cleared.picks.of("everyone"), []);
});

Deno.test("CoUse.with() counts what one session calls one after the other", () => {
  const coUse = new CoUse();
  const call = (session: string, at: number, tool: string) =>
    coUse.add({ session, at, server: "git", tool });
  call("a", 0, "status");
  call("b", 1, "push");
  call("a", 2, "commit");
  call("a", 3, "status");
  call("a", 4, "diff");
  call("a", 4 + 60 * 60_000, "log");
  assert.deepEqual(coUse.with("git", "status"), [
    { server: "git", tool: "commit" },
    { server: "git", tool: "diff" },
  ]);
  assert.deepEqual(coUse.with("git", "push"), []);
  assert.deepEqual(coUse.with("git", "log"), []);
});

Deno.test("SearchPicks.of() counts what each caller called after its own searches", () => {
  const picks = new SearchPicks();
  const entry = { endpoint: "mcp", session: "s", server: "git", tool: "status", at: 0, ms: 1 };
  const search = (id: string, principal: string, query: string) =>
    picks.add({
      ...entry,
      id,
      principal,
      ok: true,
      search: { query, isHit: true, found: [], count: 0 },
    });
  const call = (searchId: string, principal: string, ok = true) =>
    picks.add({ ...entry, id: "c", principal, searchId, ok });
  search("1", "ann@shop", "what changed");
  call("1", "ann");
  call("1", "ann#2");
  call("1", "ann", false);
  call("1", "bob");
  call("unknown", "ann");
  assert.deepEqual(picks.of("ann"), [{ query: "what changed", key: "git.status", times: 2 }]);
  assert.deepEqual(picks.of("bob"), []);
  for (let number = 0; number < 300; number++) {
    search(`n${number}`, "bob", `query ${number}`);
    call(`n${number}`, "bob");
  }
  assert.equal(picks.of("bob").length, 200);
  assert.equal(picks.of("bob").at(-1)!.query, "query 299");
  picks.clear();
  assert.deepEqual(picks.of("ann"), []);
});

Deno.test("CallStats.missed() groups searches that found nothing, and counts no search as a call", () => {
  let now = NOON;
  const stats = new CallStats({ now: () => now });
  const search = (query: string, isHit: boolean) => ({
    search: { query, isHit, found: [], count: 0, tokens: 10 },
  });
  stats.add({ ...call(NOON - HOUR), ...search("send a fax", false) });
  stats.add({ ...call(NOON), ...search("Send a fax ", false) });
  stats.add({ ...call(NOON), ...search("read a file", true) });
  stats.add({ ...call(NOON - MINUTE), ...search("book a flight", false) });
  assert.deepEqual(stats.missed(), [
    { query: "send a fax", count: 2, at: NOON },
    { query: "book a flight", count: 1, at: NOON - MINUTE },
  ]);
  for (const endpoint of ["cli", "api", "console"]) {
    stats.add({ ...call(NOON), ...search("asdf", false), endpoint });
  }
  assert.equal(stats.missed()[0]?.query, "asdf");
  assert.deepEqual(stats.missed("mcp").map(({ query }) => query), ["send a fax", "book a flight"]);
  assert.deepEqual(stats.servers(), []);
  assert.equal(stats.timeline(1, 60)[0]?.calls, 0);
  for (let n = 0; n < 5_000; n++) stats.add({ ...call(NOON), ...search(`${n}`, false) });
  assert.ok(stats.missed().length <= 1_000);
  now += 25 * HOUR;
  assert.deepEqual(stats.missed(), []);
});
