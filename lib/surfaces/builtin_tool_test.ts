import assert from "node:assert/strict";
import { z } from "zod";
import { EVERYONE } from "../core/principal.ts";
import { NameTables } from "../routing/name_table.ts";
import { Builtins } from "../routing/resolve.ts";
import { builtin } from "./builtin_tool.ts";
import { CombinedSurface } from "./combined_surface.ts";

/** Calls a tool that asks for consent, as a client with these capabilities. */
async function callAs(
  capabilities: Record<string, unknown>,
  answer: unknown,
  signal = new AbortController().signal,
): Promise<string> {
  const tools = [builtin({
    name: "dare",
    title: "Dare",
    description: "Asks",
    input: z.strictObject({}),
    async run(_, { confirm }) {
      const said = confirm ? `asked: ${await confirm("Really?")}` : "cannot ask";
      return { text: said, data: {} };
    },
  })];
  const surface = new CombinedSurface({
    instructions: "",
    names: new NameTables([], 60),
    listed: tools,
    builtins: new Builtins(tools),
  });
  const asked: ((text: string) => void)[] = [];
  const session = surface.open({
    client: { protocolVersion: "2025-11-25", capabilities },
    principal: EVERYONE,
    push: () => {},
    ask: (text, _, onAnswer) => (asked.push(onAnswer), text),
  });
  const text = await session.request({
    id: 1,
    method: "tools/call",
    params: { name: "dare" },
    text: "",
    signal,
    send: () => asked[0]?.(JSON.stringify({ jsonrpc: "2.0", id: 0, ...Object(answer) })),
  });
  return JSON.parse(text).result.content[0].text;
}

const YES = { result: { action: "accept", content: { agree: true } } };

Deno.test("BuiltinSurface asks only clients that can show a form", async () => {
  assert.equal(await callAs({}, YES), "cannot ask");
  assert.equal(await callAs({ elicitation: { url: {} } }, YES), "cannot ask");
  for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }]) {
    assert.equal(await callAs({ elicitation }, YES), "asked: true");
  }
});

Deno.test("BuiltinSurface asks nobody for a call that was cancelled", async () => {
  assert.equal(await callAs({ elicitation: {} }, YES, AbortSignal.abort()), "asked: false");
});

Deno.test("BuiltinSurface takes anything but a clear yes for a no", async () => {
  const answers = [
    { result: { action: "accept" } },
    { result: { action: "accept", content: {} } },
    { result: { action: "accept", content: { agree: "true" } } },
    { result: { action: "decline", content: { agree: true } } },
    { result: { action: "cancel" } },
    { result: null },
    { error: { code: -32601, message: "Method not found" } },
  ];
  for (const answer of answers) {
    assert.equal(await callAs({ elicitation: {} }, answer), "asked: false");
  }
});
