import assert from "node:assert/strict";
import { timeOfId } from "./time_of_id.ts";

Deno.test("timeOfId() reads the time that an id begins with, and nothing else", () => {
  const now = Date.now();
  assert.equal(timeOfId(`${now.toString(36)}-here-1`), now);
  for (const id of ["../etc", "", "-x", "abc", "A-b"]) assert.equal(timeOfId(id), undefined, id);
});
