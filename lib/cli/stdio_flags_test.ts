import assert from "node:assert/strict";
import { checkStdioFlags, endpointPathOf } from "./gateway_host.ts";

Deno.test("endpointPathOf() names the endpoint that was asked for", () => {
  const plain = endpointPathOf(new Map());
  assert.match(plain, /\/mcp$/);
  assert.equal(endpointPathOf(new Map([["expose", "all"]])), `${plain}?expose=all`);
  assert.equal(endpointPathOf(new Map([["toolset", "my tools"]])), "/toolsets/my%20tools/mcp");
  assert.equal(endpointPathOf(new Map([["server", "git"]])), "/servers/git/mcp");
});

Deno.test("endpointPathOf() refuses two endpoints, and a view that there is not", () => {
  assert.throws(
    () => endpointPathOf(new Map([["server", "a"], ["toolset", "b"]])),
    /more than one/,
  );
  assert.throws(() => endpointPathOf(new Map([["expose", "some"]])), /choose one of default, /);
  assert.throws(() => endpointPathOf(new Map([["server", ""]])), /pass a name/);
});

Deno.test("checkStdioFlags() refuses what has no meaning without --stdio", () => {
  const server = new Map([["server", "git"]]);
  assert.throws(() => checkStdioFlags(server, { stdio: false, standalone: false }), /--server is/);
  assert.throws(() => checkStdioFlags(new Map(), { stdio: false, standalone: true }), /--stand/);
  checkStdioFlags(server, { stdio: true, standalone: true });
  checkStdioFlags(new Map(), { stdio: false, standalone: false });
});
