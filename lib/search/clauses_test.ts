import assert from "node:assert/strict";
import { splitClauses } from "./clauses.ts";

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
