import assert from "node:assert/strict";
import { changePolicy } from "./server.ts";

Deno.test("changePolicy() holds what an untrusted server changes, and tells of others", () => {
  assert.equal(changePolicy({}), "notify");
  assert.equal(changePolicy({ trust: "trusted" }), "notify");
  assert.equal(changePolicy({ trust: "untrusted" }), "hold");
  assert.equal(changePolicy({ trust: "untrusted", changes: "allow" }), "allow");
  assert.equal(changePolicy({ changes: "hold" }), "hold");
});
