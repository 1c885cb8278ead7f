import assert from "node:assert/strict";
import fc from "fast-check";
import { pathParts, toolPath } from "./paths.ts";

Deno.test("toolPath() leads back to the same names, whatever they are", () => {
  const name = fc.string({ minLength: 1, unit: "grapheme" }).filter((name) =>
    !/^\.{1,2}$/.test(name)
  );
  fc.assert(fc.property(name, (tool) => {
    const { pathname } = new URL(toolPath("server", tool), "http://x");
    assert.deepEqual(pathParts(pathname), ["tools", "server", tool]);
  }));
});

Deno.test("toolPath() finds tools called . and .. by a search", () => {
  assert.equal(toolPath("s", ".."), "/tools?server=s&q=..");
});

Deno.test("pathParts() knows a path that is not well formed", () => {
  assert.equal(pathParts("/servers/%E0%A4%A"), undefined);
});
