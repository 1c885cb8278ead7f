import assert from "node:assert/strict";
import { nameArguments } from "./arguments_in_text.ts";
import { splitWords } from "./words.ts";

const named = (text: string) => splitWords(nameArguments(text));

Deno.test("nameArguments() says what a path is instead of what it is called", () => {
  assert.deepEqual(named("read /srv/q3/taxes.xlsx"), [
    "read",
    "file",
    "xlsx",
    "excel",
    "spreadsheet",
  ]);
  assert.deepEqual(named("open C:\\music\\song.mp3"), splitWords("open file mp3 audio"));
  assert.deepEqual(named("save it in ~/notes/today.md."), [
    "save",
    "it",
    "in",
    "file",
    "md",
    "markdown",
  ]);
});

Deno.test("nameArguments() knows addresses and bare file names", () => {
  assert.deepEqual(named("fetch https://example.com/a/b.html?c=1"), ["fetch", "url"]);
  assert.deepEqual(named("resize photo.png"), splitWords("resize file png image"));
});

Deno.test("nameArguments() leaves words alone that merely look alike", () => {
  assert.deepEqual(named("node.js and/or version 2.5"), splitWords("node.js and/or version 2.5"));
});
