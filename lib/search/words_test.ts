import assert from "node:assert/strict";
import { splitWords, stemOf, stemsOf } from "./words.ts";

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
