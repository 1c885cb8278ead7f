import assert from "node:assert/strict";
import { shortened } from "./shortened.ts";

Deno.test("shortened() keeps to the length, and to whole characters", () => {
  assert.equal(shortened("short", 5), "short");
  assert.equal(shortened("longer", 5), "long…");
  assert.equal(shortened("ab😀cd", 4), "ab…");
  assert.equal(shortened("", 0), "");
});
