import assert from "node:assert/strict";
import { checkStdioFlags, doorPathOf } from "./stdio_flags.ts";

Deno.test("doorPathOf() names the door that was asked for", () => {
  const plain = doorPathOf(new Map());
  assert.match(plain, /\/mcp$/);
  assert.equal(doorPathOf(new Map([["expose", "all"]])), `${plain}?expose=all`);
  assert.equal(doorPathOf(new Map([["toolset", "my tools"]])), "/toolsets/my%20tools/mcp");
  assert.equal(doorPathOf(new Map([["server", "git"]])), "/servers/git/mcp");
});

Deno.test("doorPathOf() refuses two doors, and a view that there is not", () => {
  assert.throws(() => doorPathOf(new Map([["server", "a"], ["toolset", "b"]])), /more than one/);
  assert.throws(() => doorPathOf(new Map([["expose", "some"]])), /choose one of default, /);
  assert.throws(() => doorPathOf(new Map([["server", ""]])), /give it a name/);
});

Deno.test("checkStdioFlags() refuses what has no meaning without --stdio", () => {
  const server = new Map([["server", "git"]]);
  assert.throws(() => checkStdioFlags(server, { stdio: false, standalone: false }), /--server is/);
  assert.throws(() => checkStdioFlags(new Map(), { stdio: false, standalone: true }), /--stand/);
  checkStdioFlags(server, { stdio: true, standalone: true });
  checkStdioFlags(new Map(), { stdio: false, standalone: false });
});
