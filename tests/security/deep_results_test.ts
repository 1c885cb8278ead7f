import assert from "node:assert/strict";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { Guarded, Visitor } from "./guarded.ts";

const nested = (levels: number) => `${"[".repeat(levels)}"]]]"${"]".repeat(levels)}`;
const result = (levels: number) => `{"content":[],"structuredContent":{"deep":${nested(levels)}}}`;

Deno.test("a result that clients could not parse is an error, whatever the content guard does", async () => {
  await using server = new ScriptedServer([tool("abyss"), tool("stairs")]);
  server.results.set("abyss", result(500_000));
  server.results.set("stairs", result(400));
  await using guarded = await Guarded.open({ deep: { ...at(server), answers: "off" } });
  for (const endpoint of ["/servers/deep/mcp", "/mcp?expose=all", "/mcp"]) {
    const visitor = await Visitor.open(guarded.url, endpoint, guarded.owner);
    const refused = await visitor.call("deep.abyss");
    assert.match(refused, /LIMIT_EXCEEDED/, endpoint);
    assert.match(refused, /nested more than 500 levels/);
    assert.ok(refused.length < 10_000);
    assert.ok(
      (await visitor.call("deep.stairs")).includes(nested(400)),
      "an odd one passes as it came",
    );
  }
});
