import assert from "node:assert/strict";
import * as z from "zod";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { Guarded, Visitor } from "./guarded.ts";

const MOST_TOKENS = 1_000;
const Result = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  _meta: z.unknown().optional(),
});

const lines = Array.from({ length: 20_000 }, (_, nth) => `row ${nth}`).join("\n");

function library(): ScriptedServer {
  const server = new ScriptedServer([
    tool("dump"),
    tool("rows", { outputSchema: { type: "object" } }),
    tool("picture"),
    tool("short"),
  ]);
  const say = (name: string, result: object) => server.results.set(name, JSON.stringify(result));
  say("dump", { content: [{ type: "text", text: lines }], _meta: { kept: true } });
  const structuredContent = { rows: lines };
  say("rows", { content: [{ type: "text", text: "see the data" }], structuredContent });
  say("picture", {
    content: [
      { type: "text", text: "Here it is" },
      { type: "image", data: "A".repeat(200_000), mimeType: "image/png" },
    ],
  });
  return server;
}

const tokensOf = (text: string) => text.length / 4;

Deno.test("a result over the limit of its server is cut, whichever endpoint it goes through", async (t) => {
  await using small = library();
  await using whole = library();
  await using guarded = await Guarded.open({
    small: { ...at(small), maxResultTokens: MOST_TOKENS },
    whole: at(whole),
  });
  const open = (endpoint: string) => Visitor.open(guarded.url, endpoint, guarded.owner);
  const call = async (visitor: Visitor, name: string, args: object = {}) => {
    const { result, text } = await visitor.request("tools/call", { name, arguments: args });
    return { ...Result.parse(result), text };
  };

  await t.step("a text is cut at a line, and says how much is left and where", async () => {
    for (const endpoint of ["/servers/small/mcp", "/mcp?expose=all", "/mcp"]) {
      const { content, text, _meta } = await call(await open(endpoint), "small.dump");
      assert.ok(tokensOf(text) < MOST_TOKENS * 1.5, `${text.length} characters at ${endpoint}`);
      assert.deepEqual(_meta, { kept: true });
      const [head, note] = content;
      assert.ok(lines.startsWith(head?.text ?? "?"));
      assert.match(head?.text ?? "", /\n$/);
      assert.match(note?.text ?? "", /tokens are shown, about [\d,]+ remain/);
      assert.match(note?.text ?? "", /resources\/read of quartermaster:\/\/results\/\S+\?page=2/);
    }
    const executed = await call(await open("/mcp"), "tool_execute", { toolKey: "small.dump" });
    assert.ok(tokensOf(executed.text) < MOST_TOKENS * 1.5);
  });

  await t.step("an image and structured content are never cut in the middle", async () => {
    const visitor = await open("/servers/small/mcp");
    const picture = await call(visitor, "small.picture");
    assert.ok(tokensOf(picture.text) < MOST_TOKENS);
    assert.ok(picture.content.every(({ type }) => type === "text"));
    assert.match(
      picture.text,
      /image \(image\/png\), about 50,\d+ tokens, exceeds this gateway's limit/,
    );
    const rows = await call(visitor, "small.rows");
    assert.ok(tokensOf(rows.text) < MOST_TOKENS);
    assert.equal(rows.structuredContent, undefined);
    assert.equal(rows.isError, true, "it would break the promise of its schema");
    assert.match(rows.text, /was made and succeeded: do not repeat it/);
  });

  await t.step("what is short, and what no limit is set for, is as it came", async () => {
    const visitor = await open("/mcp?expose=all");
    assert.match((await call(visitor, "small_short")).text, /called short/);
    const { content } = await call(visitor, "whole_dump");
    assert.deepEqual(content, [{ type: "text", text: lines }]);
  });

  await t.step("the rest is read page by page, in the session that asked alone", async () => {
    const Contents = z.looseObject({
      contents: z.array(z.looseObject({ text: z.string().optional() })),
    });
    for (const endpoint of ["/servers/small/mcp", "/mcp?expose=all"]) {
      const visitor = await open(endpoint);
      const { content: [head], text } = await call(visitor, "small.dump");
      const [first] = /quartermaster:\/\/results\/[0-9a-f/-]+\?page=2/.exec(text) ?? [];
      const other = await open(endpoint);
      const foreign = await other.request("resources/read", { uri: first });
      assert.match(foreign.error?.message ?? "", /Page not found/);
      let whole = head?.text ?? "";
      let uri = first;
      for (let page = 2; uri !== undefined && page < 200; page++) {
        const { result } = await visitor.request("resources/read", { uri });
        const [, body = "", note = ""] =
          /^(.*)\n\n(\[Page .*\])$/s.exec(Contents.parse(result).contents[0]?.text ?? "") ?? [];
        whole += body;
        uri = /next: (\S+)\]/.exec(note)?.[1];
      }
      assert.ok(whole === lines, `${whole.length} of ${lines.length} characters at ${endpoint}`);
    }
  });
});
