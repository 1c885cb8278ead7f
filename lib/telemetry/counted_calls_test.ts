import assert from "node:assert/strict";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";
import { countCalls } from "./counted_calls.ts";

const DAY = 24 * 60 * 60_000;

Deno.test("countCalls() counts what was called before and after, each once", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const onWarning = (message: string) => assert.fail(message);
  let now = Date.now() - 2 * DAY;
  await using activity = new ActivityLog({ repository, processId: "p", onWarning, now: () => now });
  const call = (tool: string, ok = true) =>
    activity.record({
      door: "mcp?",
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
  const { stats, loaded } = countCalls({ activity, repository, onWarning });
  now = Date.now();
  call("live");
  await activity.flush();
  await loaded;
  assert.deepEqual(stats.servers().map(({ calls, errors }) => [calls, errors]), [[4, 1]]);
});

Deno.test("countCalls() counts what another process tells, and not twice what the record had", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const onWarning = (message: string) => assert.fail(message);
  await using activity = new ActivityLog({ repository, processId: "here", onWarning });
  const at = Date.now() - 1_000;
  await using there = new ActivityLog({ repository, processId: "there", onWarning, now: () => at });
  const call = (tool: string) =>
    there.record({
      door: "mcp?",
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
