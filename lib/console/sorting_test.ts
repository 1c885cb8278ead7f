import assert from "node:assert/strict";
import { compareText, nextSorting, readSorting } from "./sorting.ts";

Deno.test("readSorting() takes the first column for one it does not know", () => {
  const query = new URLSearchParams("sort=__proto__&dir=desc");
  assert.deepEqual(readSorting(query, ["name", "tools"]), { column: "name", descending: true });
});

Deno.test("nextSorting() turns the order of the column that is sorted already", () => {
  const byName = { column: "name", descending: false } as const;
  assert.deepEqual(nextSorting(byName, "name"), { sort: "name", dir: "desc" });
  assert.deepEqual(nextSorting({ ...byName, descending: true }, "name"), {
    sort: "name",
    dir: undefined,
  });
});

Deno.test("compareText() ignores case first and is never undecided", () => {
  assert.deepEqual(["b", "A", "a", "B"].sort(compareText), ["A", "a", "B", "b"]);
});
