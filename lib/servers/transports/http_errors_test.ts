import assert from "node:assert/strict";
import { readChallenge } from "./http_errors.ts";

Deno.test("readChallenge() reads what a bearer challenge says, quoted or not", () => {
  const header = 'Basic realm="a", Bearer realm="b, c", error=invalid_token, scope="a:read b", ' +
    'resource_metadata="https://a.example/.well-known/oauth-protected-resource"';
  assert.deepEqual(readChallenge(header), {
    error: "invalid_token",
    scope: "a:read b",
    resourceMetadata: "https://a.example/.well-known/oauth-protected-resource",
  });
});

Deno.test("readChallenge() gives nothing of another scheme, and does not take a part for a name", () => {
  assert.deepEqual(readChallenge(null), {});
  assert.deepEqual(readChallenge('Basic scope="x"'), {});
  assert.deepEqual(readChallenge('Bearer xscope="x"'), {});
});
