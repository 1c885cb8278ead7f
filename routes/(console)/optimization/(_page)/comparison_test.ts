import assert from "node:assert/strict";
import { confusionTable, drawnScore, scorePairs } from "./comparison.ts";

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

const none = { correct: 0, total: 0 };

Deno.test("drawnScore() has the rate with its interval in percent, and the counts in words", () => {
  const { rate, low, high, short, text } = drawnScore({ correct: 13, total: 15 });
  assert.deepEqual([rate, low, high], [86.7, 62.1, 96.3]);
  assert.equal(short, "13/15 (87 %)");
  assert.equal(text, "13/15 (87 %, 95 % interval 62-96 %)");
  assert.deepEqual([drawnScore(none).hasData, drawnScore(none).short], [false, "no data"]);
});

Deno.test("scorePairs() compares each category, and gives no gain where there is no data", () => {
  const before = {
    direct: { correct: 1, total: 2 },
    indirect: { correct: 2, total: 2 },
    negative: none,
    overall: { correct: 3, total: 4 },
  };
  const after = {
    direct: { correct: 2, total: 2 },
    indirect: { correct: 1, total: 2 },
    negative: { correct: 1, total: 1 },
    overall: { correct: 3, total: 4 },
  };
  const found = scorePairs(before, after).map(({ label, gain, isBetter, isWorse }) => [
    label,
    gain,
    isBetter,
    isWorse,
  ]);
  assert.deepEqual(found, [
    ["Direct", "+50 points (95 % interval -27 to 91)", true, false],
    ["Indirect", "-50 points (95 % interval -91 to 27)", false, true],
    ["Negative", undefined, false, false],
    ["Overall", "0 points (95 % interval -49 to 49)", false, false],
  ]);
});
