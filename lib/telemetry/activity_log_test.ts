import assert from "node:assert/strict";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";

const CALL = { door: "mcp?default", session: "s", principal: "everyone", server: "git", ms: 3 };

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
    log.recordSearch(1_000, 50);
  }
  const recent = await Array.fromAsync(repository.recent(2));
  assert.deepEqual(recent.map(({ tool }) => tool), ["push", "log"]);
  const [second, first] = await repository.days();
  assert.deepEqual([first!.day, first!.calls, first!.errors], ["2026-01-31", 2, 1]);
  assert.deepEqual([second!.calls, second!.searches, second!.baselineTokens], [1, 1, 1_000]);
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
