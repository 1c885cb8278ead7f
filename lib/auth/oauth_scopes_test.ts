import assert from "node:assert/strict";
import { insufficientScope, rightsOf, ScopeMissing, type TokenRights } from "./oauth_scopes.ts";

function understood(claims: Record<string, unknown>): TokenRights {
  const rights = rightsOf(claims);
  assert.ok("scope" in rights, JSON.stringify(rights));
  return rights;
}

Deno.test("rightsOf() reads scopes as providers write them", () => {
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
    assert.deepEqual(understood(claims).scope.rights, ["read", "call"], JSON.stringify(claims));
  }
  assert.deepEqual(understood({ scope: "mcp:read" }), {
    scope: { rights: ["read"], servers: ["*"], tools: ["*"], toolsets: ["*"] },
  });
});

Deno.test("rightsOf() says which scopes to ask for where none counts", () => {
  for (const scope of ["", "openid profile", "mcp:everything", "MCP:READ", undefined, 7, null]) {
    assert.throws(
      () => rightsOf({ scope }),
      (error) => error instanceof ScopeMissing && error.scopes.join(" ") === "mcp:read mcp:call",
    );
  }
});

Deno.test("rightsOf() narrows by claims, and never widens by one that it does not understand", () => {
  const scope = "mcp:call";
  const { scope: narrow } = understood({
    scope,
    mcp_servers: ["git*"],
    mcp_tools: ["*", "!*.push"],
    mcp_toolsets: [],
  });
  assert.deepEqual(narrow.servers, ["git*"]);
  assert.deepEqual(narrow.tools, ["*", "!*.push"]);
  assert.deepEqual(narrow.toolsets, ["!*"]);
  for (const value of ["git", null, {}, [7], ["no spaces allowed"], [["git"]]]) {
    assert.deepEqual(
      rightsOf({ scope, mcp_servers: value }),
      { wrong: "its claim mcp_servers has an invalid value" },
      JSON.stringify(value),
    );
  }
});

Deno.test("rightsOf() takes a project and limits from claims, and no claim that it does not understand", () => {
  const scope = "mcp:call";
  const bound = understood({
    scope,
    mcp_project: "garden",
    mcp_mode: "read-only",
    mcp_calls_per_minute: 60,
    mcp_concurrent_calls: 2,
  });
  assert.equal(bound.project, "garden");
  assert.deepEqual(bound.limit, { perMinute: 60, concurrent: 2, mode: "read-only" });
  assert.deepEqual(understood({ scope, mcp_mode: "confirm" }).limit, { mode: "confirm" });
  for (
    const wrong of [
      { mcp_project: "" },
      { mcp_project: null },
      { mcp_project: ["garden"] },
      { mcp_mode: "readonly" },
      { mcp_mode: null },
      { mcp_calls_per_minute: "60" },
      { mcp_calls_per_minute: 0 },
      { mcp_concurrent_calls: 1.5 },
      { mcp_concurrent_calls: null },
    ]
  ) {
    const [claim] = Object.keys(wrong);
    assert.deepEqual(
      rightsOf({ scope, ...wrong }),
      { wrong: `its claim ${claim} has an invalid value` },
      JSON.stringify(wrong),
    );
  }
});

Deno.test("rightsOf() takes no claim that was to narrow and is misspelled, and says how they are spelled", () => {
  const scope = "mcp:call";
  const known = "mcp_servers, mcp_tools, mcp_toolsets, mcp_project, mcp_calls_per_minute, " +
    "mcp_concurrent_calls, mcp_mode";
  for (const claim of ["mcp_projects", "MCP_project", "mcp_", "mcp_toString"]) {
    assert.deepEqual(
      rightsOf({ scope, mcp_servers: ["git"], [claim]: "garden" }),
      { wrong: `its claim ${claim} is unknown; the known ones are ${known}` },
    );
  }
  const { scope: whole } = understood({ scope, mcp: 1, email: "a@b", "https://a.b/mcp_x": 1 });
  assert.deepEqual(whole.servers, ["*"], "claims of others say nothing here");
});

Deno.test("rightMissing() asks for what was held as well", () => {
  const missing = insufficientScope(["manage", "read"], "call");
  assert.deepEqual(missing.scopes, ["mcp:read", "mcp:call", "mcp:manage"]);
  assert.equal(missing.httpStatus, 403);
  const both = insufficientScope(["optimize"], "manage", "call");
  assert.equal(both.message, 'The token has no scope "mcp:manage" and no "mcp:call"');
  assert.deepEqual(both.scopes, ["mcp:call", "mcp:manage", "mcp:optimize"]);
});
