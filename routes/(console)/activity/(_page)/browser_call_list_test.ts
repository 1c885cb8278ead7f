import assert from "node:assert/strict";
import { MOST_ROWS, passes, withHeard, withNewest, withOlder } from "./browser.ts";

function calls(...ids: string[]) {
  return ids.map((id) => ({
    id,
    at: 0,
    endpoint: "mcp?default",
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

Deno.test("withHeard() puts what was heard late in its place", () => {
  const at = (time: number) => ({ ...calls(`${time}`)[0]!, at: time });
  const rows = withHeard([at(9), at(7), at(3)], [at(8), at(2)]);
  assert.equal(idsOf(rows), "98732");
  const many = Array.from({ length: 3_000 }, (_, index) => at(10_000 - index));
  const twice = withHeard(many, [at(7_500), at(20_000)]);
  assert.deepEqual([twice.length, twice[0]?.at], [3_001, 20_000]);
});

Deno.test("withNewest() keeps what was heard in between while the newest were asked for", () => {
  const at = (time: number) => ({ ...calls(`${time}`)[0]!, at: time });
  const { rows } = withNewest([at(9), at(8), at(7)], [at(9), at(7), at(6)]);
  assert.equal(idsOf(rows), "9876");
});
