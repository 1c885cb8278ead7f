import assert from "node:assert/strict";
import { rowWindow } from "./rows.ts";

Deno.test("rowWindow() draws what is seen, and little more", () => {
  const list = { height: 360, rowHeight: 36, count: 100_000 };
  assert.deepEqual(rowWindow({ ...list, top: 0 }), { first: 0, end: 31 });
  assert.deepEqual(rowWindow({ ...list, top: 36_000 }), { first: 980, end: 1_031 });
  assert.deepEqual(rowWindow({ ...list, top: 9e9 }), { first: 99_969, end: 100_000 });
  assert.deepEqual(rowWindow({ ...list, top: -20, count: 3 }), { first: 0, end: 3 });
  assert.deepEqual(rowWindow({ ...list, top: 0, count: 0 }), { first: 0, end: 0 });
  const tall = rowWindow({ ...list, top: 36_000, height: 1e6 });
  assert.ok(tall.end - tall.first <= 160);
});
