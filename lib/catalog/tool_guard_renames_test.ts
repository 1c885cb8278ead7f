import assert from "node:assert/strict";
import { isBroken, readTool } from "./catalog_tool.ts";
import { findRenames } from "./tool_guard.ts";

function tool(name: string, description: string, ...parameters: string[]) {
  const properties = Object.fromEntries(parameters.map((key) => [key, { type: "string" }]));
  const text = JSON.stringify({ name, description, inputSchema: { type: "object", properties } });
  const read = readTool("s", text, 0);
  assert.ok(!isBroken(read));
  return read;
}

Deno.test("findRenames() knows a tool by all but its name", () => {
  const found = findRenames(
    [tool("fetch", "Reads a file", "path"), tool("other", "Sends mail", "to")],
    [tool("read", "Reads a file", "path"), tool("gone", "Counts days", "from")],
  );
  assert.deepEqual([...found], [["fetch", "read"]]);
});

Deno.test("findRenames() knows a tool whose words have changed a little", () => {
  const found = findRenames(
    [tool("fetch", "Reads a file from the disk quickly", "path")],
    [tool("read", "Reads a file from the disk", "path")],
  );
  assert.deepEqual([...found], [["fetch", "read"]]);
});

Deno.test("findRenames() says nothing where two tools fit, or none", () => {
  const twice = [tool("a", "Reads a file", "path"), tool("b", "Reads a file", "path")];
  assert.equal(findRenames([tool("c", "Reads a file", "path")], twice).size, 0);
  assert.equal(findRenames(twice, [tool("c", "Reads a file", "path")]).size, 0);
  assert.equal(findRenames([tool("a", "Reads")], [tool("b", "Writes all the mail")]).size, 0);
  assert.equal(findRenames([], twice).size, 0);
});
