import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { wordDiff } from "./word_diff.ts";

Deno.test("wordDiff() marks the words that came and went", () => {
  assert.deepEqual(wordDiff("Finds files by name.", "Finds folders by name."), [
    { kind: "same", text: "Finds " },
    { kind: "removed", text: "files" },
    { kind: "added", text: "folders" },
    { kind: "same", text: " by name." },
  ]);
  assert.deepEqual(wordDiff("", "New"), [{ kind: "added", text: "New" }]);
  assert.deepEqual(wordDiff("Old", ""), [{ kind: "removed", text: "Old" }]);
  assert.deepEqual(wordDiff("a b", "c d"), [
    { kind: "removed", text: "a b" },
    { kind: "added", text: "c d" },
  ]);
});

Deno.test("wordDiff() loses nothing of either text", () => {
  const word = fc.constantFrom("a", "b", "word", " ", "\n", ".", "Ж", "😀", "\ud800");
  const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(""));
  fc.assert(fc.property(text, text, (before, after) => {
    const segments = wordDiff(before, after);
    const without = (kind: string) =>
      segments.filter((segment) => segment.kind !== kind).map(({ text }) => text).join("");
    assert.equal(without("added"), before);
    assert.equal(without("removed"), after);
  }));
});

Deno.test("wordDiff() stays short for huge texts", () => {
  const huge = (word: string) => `${word} `.repeat(50_000);
  const segments = wordDiff(`${huge("same")}${huge("old")}`, `${huge("same")}${huge("new")}`);
  assert.deepEqual(segments.map(({ kind }) => kind), ["same", "removed", "added", "same"]);
  assert.ok(JSON.stringify(segments).length < 20_000);
});
