import assert from "node:assert/strict";
import { stemOf, topicOf } from "./topic.ts";

Deno.test("topicOf() has the words of names in any spelling, by their beginnings", () => {
  const topic = topicOf("listSecrets", "aws-secrets_manager", undefined);
  for (const word of ["list", "secrets", "aws", "managers"]) {
    assert.ok(topic.has(stemOf(word)), word);
  }
  assert.ok(!topic.has(stemOf("password")));
});
