import assert from "node:assert/strict";
import { CallFeed } from "./browser.ts";

function call(nth: number, change: { server?: string; ok?: boolean } = {}) {
  const base = { at: nth, endpoint: "mcp?default", session: "s", principal: "p", ms: 1, ok: true };
  return { ...base, id: `c${nth}`, server: "git", tool: "status", ...change };
}

const calls = (...nths: number[]) => nths.map((nth) => call(nth));
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).join(" ");
const never = () => Promise.reject(new Error("Nobody is asked"));

Deno.test("CallFeed.hear() shows new calls of its filter, or holds them back until asked", () => {
  const input = { rows: calls(1), hasOlder: false, query: { server: "git" }, isOlder: false };
  const feed = new CallFeed(input, never);
  feed.hear({ calls: [call(2), call(3, { server: "other" })], skipped: 0 }, () => false);
  assert.equal(idsOf(feed.rows.value), "c2 c1");
  feed.hear({ calls: [call(4), call(5)], skipped: 0 }, () => true);
  assert.deepEqual([idsOf(feed.rows.value), feed.waiting.value.length], ["c2 c1", 2]);
  feed.showWaiting();
  assert.deepEqual([idsOf(feed.rows.value), feed.waiting.value.length], ["c5 c4 c2 c1", 0]);
});

Deno.test("CallFeed.hear() asks the gateway where calls were skipped or words are searched", async () => {
  for (const query of [{ q: "readme" }, {}] as Record<string, string>[]) {
    const asked = Promise.withResolvers<Record<string, string>>();
    const feed = new CallFeed(
      { rows: calls(1), hasOlder: false, query, isOlder: false },
      (sent) => {
        asked.resolve(sent);
        return Promise.resolve({ calls: calls(9, 1), hasOlder: false });
      },
    );
    feed.hear({ calls: calls(8), skipped: 3 }, () => false);
    assert.deepEqual(await asked.promise, { ...query, limit: "500" });
    await new Promise((resolve) => setTimeout(resolve));
    assert.equal(idsOf(feed.rows.value), "c9 c1");
    feed.close();
  }
});

Deno.test("CallFeed.refresh() begins anew over a gap, at once or when what waits is shown", () => {
  const input = { rows: calls(2, 1), hasOlder: false, query: {}, isOlder: false };
  const feed = new CallFeed(input, never);
  feed.refresh({ calls: calls(9, 8), hasOlder: true }, false);
  assert.deepEqual([idsOf(feed.rows.value), feed.hasOlder.value], ["c9 c8", true]);
  const held = new CallFeed(input, never);
  held.hear({ calls: calls(3), skipped: 0 }, () => true);
  held.refresh({ calls: calls(9, 8), hasOlder: true }, true);
  assert.equal(idsOf(held.rows.value), "c2 c1");
  held.showWaiting();
  assert.deepEqual([idsOf(held.rows.value), held.hasOlder.value], ["c9 c8", true]);
  const joined = new CallFeed(input, never);
  joined.refresh({ calls: calls(4, 3, 2), hasOlder: true }, true);
  assert.equal(idsOf(joined.waiting.value), "c4 c3");
});

Deno.test("CallFeed.loadOlder() adds older calls, and says when it could not", async () => {
  let isAway = true;
  const feed = new CallFeed(
    { rows: calls(5, 4), hasOlder: true, query: { tool: "status" }, isOlder: false },
    (query) => {
      if (isAway) return Promise.reject(new Error("The gateway is away"));
      assert.deepEqual(query, { tool: "status", limit: "500", before: "c4" });
      return Promise.resolve({ calls: calls(3, 2), hasOlder: false });
    },
  );
  await feed.loadOlder();
  assert.equal(feed.older.value, "failed");
  isAway = false;
  await feed.loadOlder();
  assert.deepEqual([idsOf(feed.rows.value), feed.hasOlder.value], ["c5 c4 c3 c2", false]);
});

Deno.test("CallFeed.loadOlder() adds nothing to a list that began anew meanwhile", async () => {
  const asked = Promise.withResolvers<{ calls: ReturnType<typeof calls>; hasOlder: boolean }>();
  const input = { rows: calls(5, 4), hasOlder: true, query: {}, isOlder: false };
  const feed = new CallFeed(input, () => asked.promise);
  const loading = feed.loadOlder();
  feed.refresh({ calls: calls(99, 98), hasOlder: true }, false);
  asked.resolve({ calls: calls(3, 2), hasOlder: false });
  await loading;
  assert.deepEqual(
    [idsOf(feed.rows.value), feed.hasOlder.value, feed.older.value],
    ["c99 c98", true, "idle"],
  );
});

Deno.test("CallFeed.refresh() fills an empty list also while it is held", () => {
  const input = { rows: [], hasOlder: false, query: {}, isOlder: false };
  const feed = new CallFeed(input, never);
  feed.hear({ calls: calls(9), skipped: 0 }, () => true);
  feed.refresh({ calls: calls(9, 8), hasOlder: true }, true);
  assert.deepEqual(
    [idsOf(feed.rows.value), feed.hasOlder.value, feed.waiting.value.length],
    ["c9 c8", true, 0],
  );
});

Deno.test("CallFeed.hear() leaves no gap before what is older than its last row", () => {
  const input = { rows: calls(9, 8), hasOlder: true, query: {}, isOlder: false };
  const feed = new CallFeed(input, never);
  feed.hear({ calls: calls(5, 10), skipped: 0 }, () => false);
  assert.equal(idsOf(feed.rows.value), "c10 c9 c8");
});
