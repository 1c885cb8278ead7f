import assert from "node:assert/strict";
import { confusionTable } from "./optimization_comparison.ts";

Deno.test("confusionTable() calls wrong what the counts have as wrong, and nothing else", () => {
  const { called, rows } = confusionTable({
    find_books: { find_books: 3, list_loans: 1 },
    list_loans: { list_loans: 2, opening_hours: 1, find_books: 1 },
    "(none)": { "(none)": 2, "shop.find_books": 1, find_books: 1 },
  }, "find_books");
  assert.deepEqual(called, [
    "find_books",
    "list_loans",
    "opening_hours",
    "shop.find_books",
    "(none)",
  ]);
  const wrong = rows.flatMap(({ should, counts }) =>
    counts.filter(({ count, isRight }) => count > 0 && !isRight)
      .map(({ called }) => [should, called])
  );
  assert.deepEqual(wrong, [
    ["find_books", "list_loans"],
    ["list_loans", "find_books"],
    ["(none)", "find_books"],
  ]);
});
