import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/types"
import { CallToolResultSchema, ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { ListText } from "./list_changes.ts";
import { olderCallAnswer, olderToolList } from "./older_output.ts";

const OBJECT = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
const OTHERS = [
  { type: "array", items: {} },
  { type: ["object", "null"] },
  { anyOf: [OBJECT] },
  {},
  { type: "object", properties: { a: true } },
  { type: "object", required: [1] },
];

function tool(name: string, outputSchema?: object) {
  return { name, inputSchema: { type: "object" }, outputSchema, _meta: { n: name } };
}

Deno.test("olderToolList() leaves out only output schemas that SDK 1 refuses", () => {
  const others = OTHERS.map((schema, nth) => tool(`t${nth}`, schema));
  const text = JSON.stringify({ tools: [tool("a", OBJECT), ...others, tool("z")] });
  assert.ok(!ListToolsResultSchema.safeParse(JSON.parse(text)).success);
  const older = olderToolList(text);
  ListToolsResultSchema.parse(JSON.parse(older));
  const bare = others.map(({ name }) => tool(name));
  assert.equal(older, JSON.stringify({ tools: [tool("a", OBJECT), ...bare, tool("z")] }));
  const list = new ListText(text);
  assert.equal(list.textFor({ protocolVersion: "2026-07-28", capabilities: {} }), text);
  assert.equal(list.textFor({ protocolVersion: "2025-11-25", capabilities: {} }), older);
  for (const fine of ['{"tools":[]}', JSON.stringify({ tools: [tool("a", OBJECT)] })]) {
    assert.equal(olderToolList(fine), fine);
  }
});

Deno.test("olderCallAnswer() leaves out structured content that is not an object, and says it as text", () => {
  const content = [{ type: "text", text: 'has "structuredContent": [1]' }];
  const answer = (result: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, result });
  for (const structuredContent of [[1], 2, "x", true, null]) {
    const older = olderCallAnswer(answer({ content, structuredContent, isError: false }));
    assert.equal(older, answer({ content, isError: false }));
    CallToolResultSchema.parse(JSON.parse(older).result);
    const { result } = JSON.parse(olderCallAnswer(answer({ content: [], structuredContent })));
    const text = JSON.stringify(structuredContent);
    assert.deepEqual(result, { content: [{ type: "text", text }] });
  }
  const digits = '{"jsonrpc":"2.0","id":1,"result":{"structuredContent": [12345678901234567890]}}';
  assert.match(olderCallAnswer(digits), /"text":"\[12345678901234567890\]"/);
  const nested = answer({ content, structuredContent: { structuredContent: [1] } });
  const error = '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","structuredContent":[1]}}';
  for (const same of [nested, error]) assert.equal(olderCallAnswer(same), same);
});
