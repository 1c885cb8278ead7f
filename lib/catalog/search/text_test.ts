import assert from "node:assert/strict";
import { correct, nameArguments, splitClauses, splitWords, stemOf, stemsOf } from "./text.ts";

Deno.test("splitWords() takes names apart however they are written, and keeps them whole", () => {
  assert.deepEqual(splitWords("create_issue create-issue"), ["create", "issue", "create", "issue"]);
  assert.deepEqual(splitWords("createIssue"), ["create", "issue", "createissue"]);
  assert.deepEqual(splitWords("parseHTMLFile"), ["parse", "html", "file", "parsehtmlfile"]);
  assert.deepEqual(splitWords("oauth2 s3"), ["oauth", "2", "oauth2", "s3"]);
});

Deno.test("splitWords() keeps short commands", () => {
  assert.deepEqual(splitWords("ls; rm -rf, ps!"), ["ls", "rm", "rf", "ps"]);
});

Deno.test("splitWords() reads other scripts, and no more than it must", () => {
  assert.deepEqual(splitWords("ｆｉｌｅ מזג אוויר 天気"), ["file", "מזג", "אוויר", "天気"]);
  assert.deepEqual(splitWords("\0 🙂 ${}.*"), []);
  assert.ok(splitWords("word ".repeat(100_000)).length <= 2_000);
  assert.deepEqual(splitWords("x".repeat(500)), []);
});

Deno.test("stemsOf() drops stop words unless there is nothing else", () => {
  assert.deepEqual(stemsOf("please list the files"), ["list", "file"]);
  assert.deepEqual(stemsOf("what is it"), ["what", "is", "it"]);
});

Deno.test("stemOf() brings the forms of a word together", () => {
  assert.equal(stemOf("searching"), stemOf("searches"));
  assert.equal(stemOf("ls"), "ls");
});

Deno.test("splitClauses() finds the single wishes of a task", () => {
  assert.deepEqual(splitClauses("Read the report, then email a summary and book a room. Thanks!"), [
    "Read the report",
    "then email a summary",
    "book a room.",
    "Thanks!",
  ]);
});

Deno.test("splitClauses() leaves no clause of a single word beside others", () => {
  assert.deepEqual(splitClauses("find flights, hotels and cars"), ["find flights", "hotels cars"]);
  assert.deepEqual(splitClauses("copy files and folders"), ["copy files folders"]);
});

Deno.test("splitClauses() is bounded", () => {
  assert.equal(splitClauses("do this thing. ".repeat(1_000)).length, 16);
  assert.deepEqual(splitClauses(""), []);
});

Deno.test("correct() finds the nearest known words", () => {
  const known = ["create", "delete", "calendar", "issue", "tissue"];
  assert.deepEqual(correct("calender", known).map(({ word }) => word), ["calendar"]);
  assert.deepEqual(correct("isuse", known).map(({ word }) => word), ["issue"]);
  assert.ok(correct("calendr", known)[0]!.trust > correct("caledr", ["calendar"]).length);
});

Deno.test("correct() leaves alone what is too short, too far or no word", () => {
  assert.deepEqual(correct("lss", ["ls"]), []);
  assert.deepEqual(correct("philippines", ["create", "issue"]), []);
  assert.deepEqual(correct("2203x", ["2203"]), []);
  assert.deepEqual(correct("x".repeat(5_000), ["x"]), []);
});

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
