import assert from "node:assert/strict";
import { rightMissing, ScopeMissing, scopeOf } from "./foreign_scopes.ts";

Deno.test("scopeOf() reads scopes as providers write them", () => {
  for (
    const claims of [
      { scope: "openid mcp:call mcp:read" },
      { scope: "read call" },
      { scope: ["mcp:read", "mcp:call"] },
      { scp: ["mcp:call", "read"] },
      { scp: "mcp:read mcp:call" },
      { scope: "mcp:read", scp: ["mcp:call"] },
    ]
  ) {
    assert.deepEqual(scopeOf(claims)?.rights, ["read", "call"], JSON.stringify(claims));
  }
  assert.deepEqual(scopeOf({ scope: "mcp:read" }), {
    rights: ["read"],
    servers: ["*"],
    tools: ["*"],
    toolsets: ["*"],
  });
});

Deno.test("scopeOf() says which scopes to ask for where none counts", () => {
  for (const scope of ["", "openid profile", "mcp:everything", "MCP:READ", undefined, 7, null]) {
    assert.throws(
      () => scopeOf({ scope }),
      (error) => error instanceof ScopeMissing && error.scopes.join(" ") === "mcp:read mcp:call",
    );
  }
});

Deno.test("scopeOf() narrows by claims, and never widens by one that it does not understand", () => {
  const scope = "mcp:call";
  const narrow = scopeOf({
    scope,
    mcp_servers: ["git*"],
    mcp_tools: ["*", "!*.push"],
    mcp_toolsets: [],
  });
  assert.deepEqual(narrow?.servers, ["git*"]);
  assert.deepEqual(narrow?.tools, ["*", "!*.push"]);
  assert.deepEqual(narrow?.toolsets, ["!*"]);
  for (const value of ["git", null, {}, [7], ["no spaces allowed"], [["git"]]]) {
    assert.equal(scopeOf({ scope, mcp_servers: value }), undefined, JSON.stringify(value));
  }
});

Deno.test("rightMissing() asks for what was held as well", () => {
  const missing = rightMissing(["manage", "read"], "call");
  assert.deepEqual(missing.scopes, ["mcp:read", "mcp:call", "mcp:manage"]);
  assert.equal(missing.httpStatus, 403);
  const both = rightMissing(["optimize"], "manage", "call");
  assert.equal(both.message, 'The token has no scope "mcp:manage" and no "mcp:call"');
  assert.deepEqual(both.scopes, ["mcp:call", "mcp:manage", "mcp:optimize"]);
});
