import assert from "node:assert/strict";
import { compareText, nextSorting, paged, readSorting, withQuery } from "./lists.ts";

const items = Array.from({ length: 250 }, (_, index) => index);

Deno.test("paged() cuts out the page asked for and says where it is", () => {
  const { rows, ...place } = paged(items, "2");
  assert.deepEqual(rows.at(0), 100);
  assert.deepEqual(place, { total: 250, page: 2, pages: 3, first: 101, last: 200 });
});

Deno.test("paged() gives the nearest page for a number that is none", () => {
  for (
    const [wanted, page] of [["0", 1], ["99", 3], ["-1", 1], ["x", 1], ["1e9", 1], [
      null,
      1,
    ]] as const
  ) {
    assert.equal(paged(items, wanted).page, page, String(wanted));
  }
});

Deno.test("paged() counts from zero where there is nothing", () => {
  assert.deepEqual(paged([], "3"), { rows: [], total: 0, page: 1, pages: 1, first: 0, last: 0 });
});

Deno.test("withQuery() changes, keeps and takes out", () => {
  const url = new URL("http://x/tools?q=a%20b&page=2&fresh-partial=true");
  assert.equal(withQuery(url, { page: undefined, sort: "name" }), "/tools?q=a+b&sort=name");
  assert.equal(withQuery(url, { page: undefined, q: "" }), "/tools");
});

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
