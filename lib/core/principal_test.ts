import assert from "node:assert/strict";
import { credentialOf, inProject, ownerOf, projectOf } from "./principal.ts";

Deno.test("ownerOf() is the person, whatever the project and the scopes", () => {
  const principals = ["oauth:ann", "oauth:ann#1", "oauth:ann#2", inProject("oauth:ann#1", "web")];
  for (const principal of principals) assert.equal(ownerOf(principal), "oauth:ann", principal);
  assert.equal(ownerOf("token:a@web"), "token:a");
  assert.equal(ownerOf("everyone"), "everyone");
});

Deno.test("credentialOf() is what rights are bound to, projectOf() where it is used", () => {
  assert.deepEqual(
    ["oauth:ann#1@web", "oauth:ann#1", "token:a@web"].map((principal) => [
      credentialOf(principal),
      projectOf(principal),
    ]),
    [["oauth:ann#1", "web"], ["oauth:ann#1", undefined], ["token:a", "web"]],
  );
});
