import assert from "node:assert/strict";
import { MOST_ROWS, passes, readHeard, withHeard, withNewest, withOlder } from "./call_list.ts";

function calls(...ids: string[]) {
  return ids.map((id) => ({
    id,
    at: 0,
    door: "mcp?default",
    session: "s",
    principal: "p",
    server: "git",
    tool: "status",
    ms: 1,
    ok: true,
  }));
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).join("");

Deno.test("withNewest() adds what is not there yet, and begins anew over a gap", () => {
  const added = withNewest(calls("c", "b", "a"), calls("e", "d", "c"));
  assert.deepEqual([idsOf(added.rows), added.isAnew], ["edcba", false]);
  const longer = withNewest(calls("f", "d", "c"), calls("e", "d", "c", "b", "a"));
  assert.equal(idsOf(longer.rows), "fedcba", "older ones stay older");
  const gap = withNewest(calls("c", "b", "a"), calls("z", "y"));
  assert.deepEqual([idsOf(gap.rows), gap.isAnew], ["zy", true]);
  assert.equal(idsOf(withNewest(calls("a"), []).rows), "a");
  assert.equal(idsOf(withNewest([], calls("a")).rows), "a");
});

Deno.test("withHeard() and withOlder() have no call twice, and end at the limit", () => {
  assert.equal(idsOf(withHeard(calls("b", "a"), calls("c", "b"))), "cba");
  assert.equal(idsOf(withOlder(calls("c", "b"), calls("b", "a"))), "cba");
  const many = Array.from({ length: MOST_ROWS }, (_, index) => calls(`${index}`)[0]!);
  const rows = withHeard(many, calls("new"));
  assert.deepEqual([rows.length, rows[0]?.id], [MOST_ROWS, "new"]);
});

Deno.test("passes() compares each part of the filter", () => {
  const [call] = calls("a");
  assert.ok(passes(call!, { server: "git", status: "ok", q: "anything" }));
  assert.ok(!passes(call!, { status: "error" }));
  assert.ok(!passes(call!, { client: "cursor" }));
});

Deno.test("readHeard() turns calls to the newest first, and knows other events", () => {
  assert.equal(idsOf(readHeard({ calls: calls("a", "b"), skipped: 2 })!.calls), "ba");
  assert.equal(readHeard({}), undefined);
  assert.equal(readHeard(null), undefined);
});
