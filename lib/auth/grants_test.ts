import assert from "node:assert/strict";
import { AccessScope } from "../core/access.ts";
import { describeScope } from "./grants.ts";

const said = (scope: object) => describeScope(AccessScope.parse({ rights: ["read"], ...scope }));

Deno.test("scopeWords() says everything where nothing is kept out", () => {
  assert.equal(said({}), "everything");
});

Deno.test("scopeWords() names what is admitted and what is kept out", () => {
  assert.equal(said({ servers: ["git", "docs*"] }), "servers git, docs*");
  assert.equal(said({ tools: ["!*.delete_*"] }), "tools all except *.delete_*");
  assert.equal(
    said({ servers: ["git"], tools: ["*", "!git.push"], toolsets: ["dev", "!x"] }),
    "servers git; tools all except git.push; toolsets dev except x",
  );
});
