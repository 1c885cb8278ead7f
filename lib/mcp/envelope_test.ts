import assert from "node:assert/strict";
import { isObject } from "../core/rpc.ts";
import { completedAnswer, completedList, EnvelopeReader } from "./envelope.ts";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const CLIENT = "io.modelcontextprotocol/clientInfo";
const ENVELOPE = { [VERSION]: "2026-07-28", [CLIENT]: { name: "a" }, [CAPABILITIES]: {} };
const META = `"_meta":${JSON.stringify(ENVELOPE)}`;

function headers(more: Record<string, string> = {}) {
  return new Headers({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "look",
    ...more,
  });
}

/** Opens a call of `look` whose params have these members too, as text. */
function open(reader: EnvelopeReader, members: string, sent: Headers = headers()) {
  const text = `{"method":"tools/call","params":{"name":"look",${members}}}`;
  const { method, params } = JSON.parse(text);
  const opened = reader.open({ method, params }, text, sent);
  if ("code" in opened) return opened;
  const { params: rest } = JSON.parse(opened.text);
  return { ...opened, rest };
}

function opened(reader: EnvelopeReader, members: string) {
  const found = open(reader, members);
  assert.ok(!("code" in found), JSON.stringify(found));
  return found;
}

Deno.test("EnvelopeReader.open() reads an envelope that comes again only once, and removes it each time", () => {
  const reader = new EnvelopeReader();
  const first = opened(reader, `"arguments":{"a":1},${META}`);
  const again = opened(reader, `${META},"arguments":{"a":2}`);
  assert.equal(again.envelope, first.envelope);
  assert.deepEqual(first.rest, { name: "look", arguments: { a: 1 } });
  assert.deepEqual(again.rest, { name: "look", arguments: { a: 2 } });
  const alone = `{"method":"tools/list","params":{${META}}}`;
  const list = reader.open(
    JSON.parse(alone),
    alone,
    new Headers({ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" }),
  );
  assert.ok("text" in list);
  assert.equal(list.envelope, first.envelope);
  assert.deepEqual(JSON.parse(list.text).params, {});
});

Deno.test("EnvelopeReader.open() tells apart clients whose envelopes differ in anything", () => {
  const reader = new EnvelopeReader();
  const differing = [
    ENVELOPE,
    { ...ENVELOPE, [CLIENT]: { name: "b" } },
    { ...ENVELOPE, [CAPABILITIES]: { roots: {} } },
    { ...ENVELOPE, "io.modelcontextprotocol/logLevel": "debug" },
  ].map((meta) => `"_meta":${JSON.stringify(meta)}`);
  const first = differing.map((meta) => opened(reader, meta).envelope);
  assert.equal(new Set(first).size, differing.length);
  assert.deepEqual(differing.map((meta) => opened(reader, meta).envelope), first);
  assert.deepEqual(first.map(({ profile }) => profile.clientInfo?.name), ["a", "b", "a", "a"]);
  assert.deepEqual(first[2]?.profile.capabilities, { roots: {} });
  assert.equal(first[3]?.logLevel, "debug");
});

Deno.test("EnvelopeReader.open() checks headers and method also where it knows the envelope", () => {
  const reader = new EnvelopeReader();
  opened(reader, META);
  const codes = [
    { "mcp-protocol-version": "2025-11-25" },
    { "mcp-method": "tools/list" },
    { "mcp-name": "other" },
  ].map((wrong) => {
    const refused = open(reader, META, headers(wrong));
    return "code" in refused ? [refused.status, refused.code, refused.data?.header] : refused;
  });
  assert.deepEqual(codes, [
    [400, -32020, "MCP-Protocol-Version"],
    [400, -32020, "Mcp-Method"],
    [400, -32020, "Mcp-Name"],
  ]);
  const missing = open(reader, META, new Headers());
  assert.ok("code" in missing && missing.code === -32020);
  const ping = `{"method":"ping","params":{${META}}}`;
  const removed = reader.open(JSON.parse(ping), ping);
  assert.ok("code" in removed && removed.code === -32601);
});

Deno.test("EnvelopeReader.open() takes nothing else in a request for its envelope", () => {
  const reader = new EnvelopeReader();
  opened(reader, META);
  const nested = open(reader, `"arguments":{${META}}`);
  assert.ok("code" in nested && nested.code === -32602, "only an argument has this name");
  const other = { ...ENVELOPE, [CLIENT]: { name: "other" } };
  const escaped = `"\\u005fmeta":${JSON.stringify(other)}`;
  for (
    const members of [
      `"arguments":{${META}},"_meta":${JSON.stringify(other)}`,
      `"arguments":{${META}},"_meta" : ${JSON.stringify(other)}`,
      `"arguments":{${META}},${escaped}`,
    ]
  ) {
    const { envelope, rest } = opened(reader, members);
    assert.equal(envelope.profile.clientInfo?.name, "other", members);
    assert.deepEqual(rest.arguments, { _meta: ENVELOPE });
    assert.ok(rest._meta === undefined || Object.keys(rest._meta).length === 0, members);
  }
  const quoted = opened(reader, `"arguments":{"a":${JSON.stringify(META)}},${META}`);
  assert.deepEqual(quoted.rest, { name: "look", arguments: { a: META } });
});

Deno.test("EnvelopeReader.open() keeps what else _meta has, with all digits, however it is spaced", () => {
  const reader = new EnvelopeReader();
  const envelope = JSON.stringify(ENVELOPE).slice(1, -1);
  const token = '"progressToken":12345678901234567890';
  for (
    const meta of [`{${token},${envelope}}`, `{${envelope},${token}}`, `{ ${envelope} , ${token} }`]
  ) {
    for (const member of [`"_meta":${meta}`, ` "_meta":${meta} `, `"_meta": ${meta}`]) {
      for (let nth = 0; nth < 2; nth++) {
        const { text, rest } = opened(reader, `${member},"a":1`);
        assert.ok(text.includes(token), text);
        assert.deepEqual(Object.keys(rest._meta), ["progressToken"]);
      }
    }
  }
  for (
    const member of [` "_meta":{${envelope}} `, `"_meta":{${envelope}} `, `"_meta" : {${envelope}}`]
  ) {
    for (let nth = 0; nth < 2; nth++) {
      const { rest } = opened(reader, `${member},"a":1`);
      assert.equal(rest.a, 1);
      assert.ok(!isObject(rest._meta) || Object.keys(rest._meta).length === 0);
    }
  }
  for (
    const params of [`{${META} ,"a":1}`, `{ ${META},"a":1}`, `{${META}\n}`, `{"a":1, ${META}}`]
  ) {
    const text = `{"method":"tools/list","params":${params}}`;
    const found = reader.open(JSON.parse(text), text);
    assert.ok("text" in found);
    const { _meta, ...rest } = JSON.parse(found.text).params;
    assert.ok(_meta === undefined || Object.keys(_meta).length === 0);
    assert.equal(rest.a, params.includes('"a":1') ? 1 : undefined);
  }
});

Deno.test("completedList() gives a list what completedAnswer() gives it", () => {
  const list = '{"tools":[{"name":"a","inputSchema":{"properties":{"ttlMs":{},"resultType":{}}}}]}';
  assert.equal(
    `{"jsonrpc":"2.0","id":1,"result":${completedList(list, 60_000)}}`,
    completedAnswer(`{"jsonrpc":"2.0","id":1,"result":${list}}`, "tools/list", 60_000),
  );
  assert.equal(completedAnswer('{"id":1,"error":{"code":1}}', "tools/list", 0), undefined);
});
