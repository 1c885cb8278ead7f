import assert from "node:assert/strict";
import { isPattern, toolPattern } from "./tool_pattern.ts";

function matches(pattern: string, ...names: string[]): string[] {
  const fits = toolPattern(pattern);
  return names.filter((full) => {
    const dot = full.indexOf(".");
    return fits({ server: full.slice(0, dot), name: full.slice(dot + 1) });
  });
}

Deno.test("toolPattern() takes all of a server, and no server that only begins like it", () => {
  assert.deepEqual(matches("git.*", "git.log", "github.log", "git.a.b"), ["git.log", "git.a.b"]);
});

Deno.test("toolPattern() without a dot is about the tool's own name, whatever its case", () => {
  assert.deepEqual(matches("*read*", "files.Read_File", "thread.list", "x.spread"), [
    "files.Read_File",
    "x.spread",
  ]);
  assert.deepEqual(matches("list_*", "a.list_x", "a.my_list_x"), ["a.list_x"]);
});

Deno.test("toolPattern() needs every part in its order, and none twice", () => {
  assert.deepEqual(matches("a*b*a", "x.aba", "x.ab", "x.ba", "x.aXbXa"), ["x.aba", "x.aXbXa"]);
  assert.deepEqual(matches("ab*ba", "x.aba", "x.abba"), ["x.abba"]);
  assert.deepEqual(matches("*.get*", "a.get", "b.target"), ["a.get"]);
});

Deno.test("toolPattern() does not hang on a hostile pattern", () => {
  assert.deepEqual(matches(`${"*a".repeat(200)}*b`, `x.${"a".repeat(5_000)}`), []);
});

Deno.test("isPattern() tells a pattern from words", () => {
  assert.equal(isPattern("*read*"), true);
  assert.equal(isPattern("read a file"), false);
});
