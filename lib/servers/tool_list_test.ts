import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { pause } from "./testing/fake_server.ts";
import { listToolTexts, toolListPageOf } from "./tool_list.ts";

/** A connection that answers each page as told; `answer` gets its cursor. */
function connection(answer: (cursor: string | undefined) => string | Promise<string>) {
  const calls: { timeoutMs: number }[] = [];
  return {
    calls,
    has: (capability: string) => capability === "tools",
    session: {
      async listTools(cursor: string | undefined, timeoutMs: number) {
        calls.push({ timeoutMs });
        return toolListPageOf(`{"jsonrpc":"2.0","id":1,${await answer(cursor)}}`, "s");
      },
    },
  };
}

function isCode(code: string, words: RegExp) {
  return (error: unknown) =>
    error instanceof GatewayError && error.code === code && words.test(error.message);
}

Deno.test("listToolTexts() follows the pages to their end, and keeps each tool's text", async () => {
  const pages: Record<string, string> = {
    "": '{"tools":[{"name":"a","x":12345678901234567890}, {"name":"b"}],"nextCursor":"2"}',
    "2": '{"nextCursor":"three","tools":[]}',
    "three": '{"tools":[{"name":"c"}],"nextCursor":null}',
  };
  const server = connection((cursor) => `"result":${pages[cursor ?? ""]}`);
  assert.deepEqual(await listToolTexts(server, "s"), [
    '{"name":"a","x":12345678901234567890}',
    '{"name":"b"}',
    '{"name":"c"}',
  ]);
  assert.equal(server.calls.length, 3);
});

Deno.test("listToolTexts() asks nothing of a server without tools", async () => {
  const server = { ...connection(() => ""), has: () => false };
  assert.deepEqual(await listToolTexts(server, "s"), []);
  assert.equal(server.calls.length, 0);
});

Deno.test("listToolTexts() ends with a server that never comes to an end", async () => {
  let page = 0;
  const more = (tools: string) => () => `"result":{"tools":[${tools}],"nextCursor":"${++page}"}`;
  const isEndless = isCode("LIMIT_EXCEEDED", /never finishes its list of tools/);
  const small = connection(more('{"name":"a"}'));
  await assert.rejects(listToolTexts(small, "s"), isEndless);
  assert.equal(small.calls.length, 2_000);
  const many = connection(more(Array.from({ length: 5_000 }, () => "{}").join()));
  await assert.rejects(listToolTexts(many, "s"), isEndless);
  assert.ok(many.calls.length < 10);
  const large = connection(more(`"${"x".repeat(10_000_000)}"`));
  await assert.rejects(listToolTexts(large, "s"), isEndless);
  assert.ok(large.calls.length < 10);
  const circle = connection(() => '"result":{"tools":[],"nextCursor":"again"}');
  await assert.rejects(listToolTexts(circle, "s"), isEndless);
  assert.equal(circle.calls.length, 2);
});

Deno.test("listToolTexts() has one time limit for all pages", async () => {
  let page = 0;
  const slow = connection(async () => {
    await pause(30);
    return `"result":{"tools":[],"nextCursor":"${++page}"}`;
  });
  const isEndless = isCode("LIMIT_EXCEEDED", /never finishes its list of tools/);
  await assert.rejects(listToolTexts(slow, "s", 100), isEndless);
  assert.ok(slow.calls.length <= 5);
  assert.ok(slow.calls.every(({ timeoutMs }) => timeoutMs <= 100));
});

Deno.test("listToolTexts() says what it got in place of a list", async () => {
  const answers = [
    ['"error":{"code":1,"message":"not today"}', /did not list its tools: not today/],
    ['"result":{}', /its response has no list/],
    ['"result":{"tools":{}}', /its response has no list/],
    ['"result":[]', /its response has no list/],
    ['"result":null', /its response has no list/],
  ] as const;
  for (const [answer, words] of answers) {
    const listing = listToolTexts(connection(() => answer), "s");
    await assert.rejects(listing, isCode("SERVER_DISCONNECTED", words), answer);
  }
});
