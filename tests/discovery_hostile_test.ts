import assert from "node:assert/strict";
import * as z from "zod";
import { connect, Endpoints, must } from "./combined_endpoints.ts";
import { discover, FoundTool, refused, servers } from "./discovery.ts";

const HOSTILE: Record<string, unknown> = {
  "100 KB of words": "create issue calendar ".repeat(5_000),
  "100 KB without a space": "x".repeat(100_000),
  "100 KB of different words": Array.from({ length: 15_000 }, (_, n) => `w${n}`).join(" "),
  emoji: "\u{1F41B} create \u{1F4C5}\u{1F469}\u200D\u{1F4BB}",
  "right to left": "\u202Eإنشاء مشكلة في مستودع שלום",
  "only stop words": "the of and to a in is it with for",
  SQL: "'; DROP TABLE tools; -- \" OR 1=1 %",
  "null bytes": "create\u0000issue\u0000\u0000",
  "half a character": "create \uD83D issue",
  "a pattern": "(a+)+$ [^]*{1,99999} \\",
  "names of objects": "constructor __proto__ toString hasOwnProperty",
};

Deno.test("queries of any kind get an answer", async (t) => {
  await using behind = servers();
  await using endpoints = await Endpoints.open(behind.entries);
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  for (const [name, query] of Object.entries(HOSTILE)) {
    await t.step(name, async () => {
      const found = await client.call("tool_discovery", { query, context: query });
      assert.ok(!found.isError, found.text);
      assert.ok(found.text.length < 10_000, `${found.text.length} characters`);
      const tools = z.array(FoundTool).parse(found.data.tools);
      if (tools.length === 0) assert.equal(typeof found.data.hint, "string");
      await must(client, "optim.find_tool", { tool_description: query, tool_keywords: query });
      const named = await refused(client, "tool_execute", { toolKey: query });
      assert.ok(named.text.length < 2_000, `${named.text.length} characters`);
      const described = await refused(client, "get_tool_description", { tool_name: query });
      assert.equal(described.code, "TOOL_NOT_FOUND");
      await must(client, "tool_capabilities", { server: query });
      await must(client, "list_available_tools", { category: query });
    });
  }
  await t.step("empty queries", async () => {
    for (const query of ["", " \n\t\r\u00A0\u3000 ", [], [""], ["", " "]]) {
      const none = await refused(client, "tool_discovery", { query });
      assert.equal(none.code, "INVALID_ARGUMENTS");
      assert.match(none.text, /describe what you need/);
    }
    const none = await refused(client, "optim.find_tool", { tool_description: " " });
    assert.equal(none.code, "INVALID_ARGUMENTS");
  });
  await t.step("arrays", async () => {
    const query = Array.from({ length: 20_000 }, () => "issue");
    const { text, isError } = await client.call("tool_discovery", { query });
    assert.ok(!isError && text.length < 10_000, text.slice(0, 500));
    const mixed = await refused(client, "tool_discovery", { query: ["issue", 7] });
    assert.match(mixed.text, /query/);
  });
  await t.step("what was asked before is still answered", async () => {
    const { tools } = await discover(client, { query: "create an issue" });
    assert.equal(tools[0]!.toolName, "create_issue");
  });
});
