import assert from "node:assert/strict";
import { errorText, resultText } from "../core/rpc.ts";
import { looksFailed } from "./protocol.ts";
import { callParams, completionRef, requestParams } from "./call.ts";

Deno.test("looksFailed() goes by the answer itself, not by what it tells of", () => {
  const failed = [
    errorText(1, -32603, "no"),
    resultText(1, '{"content":[],"isError":true}'),
    '{ "id": 1, "result": { "isError" : true, "content": [] }, "jsonrpc": "2.0" }',
  ];
  const fine = [
    resultText(1, "{}"),
    resultText(1, '{"content":[],"isError":false}'),
    resultText(1, '{"content":[],"structuredContent":{"error":null,"isError":true}}'),
    resultText(
      1,
      JSON.stringify({ content: [{ type: "text", text: '{"error":"\\"isError":true' }] }),
    ),
    resultText(1, '"an error in words"'),
    "an error of a server that does not speak JSON",
  ];
  for (const answer of failed) assert.equal(looksFailed(answer), true, answer);
  for (const answer of fine) assert.equal(looksFailed(answer), false, answer);
});

function message(params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
}

Deno.test("callParams() changes the name and keeps every other byte", () => {
  const params = '{ "arguments": {"n": 12345678901234567890, "Name": 1}, "name" : "git.status" }';
  const sent = { text: message(params), params: JSON.parse(params) };
  assert.equal(
    callParams(sent, "status"),
    '{ "arguments": {"n": 12345678901234567890, "Name": 1}, "name" : "status" }',
  );
  const escaped = params.replace("git.status", "git\\u002estatus");
  const same = { text: message(escaped), params: JSON.parse(escaped) };
  assert.equal(callParams(same, "git.status"), escaped, "the same name stays as it was written");
});

Deno.test("soundParams() refuses what another reader could understand otherwise", () => {
  for (
    const params of [
      '{"name":"delete_all","name":"read"}',
      '{"name":"read","Name":"delete_all"}',
      '{"name":"read","NAME":"delete_all"}',
      '{"name":"read","n\\u0061me":"delete_all"}',
      '{"name":"read","Arguments":{"path":"/"}}',
      '{"name":"read","argument\u017f":{"path":"/"}}',
      '{"name":"read","tas\u212a":{}}',
      '{"uri":"file:///a","URI":"file:///b"}',
      '{"name":"read","other":1,"OTHER":2}',
    ]
  ) {
    assert.throws(() => requestParams(message(params)), { code: "INVALID_PARAMS" }, params);
  }
});

function refOf(ref: string) {
  const params = `{"ref":${ref},"argument":{"name":"a","value":""}}`;
  return completionRef(message(params), JSON.parse(params));
}

Deno.test("completionRef() goes by the type", () => {
  assert.deepEqual(refOf('{"type":"ref/prompt","name":"greet","title":"Greet"}'), {
    kind: "prompt",
    name: "greet",
  });
  assert.deepEqual(refOf('{"type":"ref/resource","uri":"x://{a}"}'), {
    kind: "resource",
    name: "x://{a}",
  });
});

Deno.test("completionRef() refuses what a server could take for something else", () => {
  for (
    const ref of [
      '{"type":"ref/prompt","uri":"x://ok","name":"hidden"}',
      '{"type":"ref/resource","uri":"x://hidden","name":"ok"}',
      '{"type":"ref/prompt","uri":"x://ok"}',
      '{"uri":"x://ok"}',
      '{"type":"ref/prompt","name":"hidden","name":"ok"}',
      '{"type":"ref/prompt","name":"ok","Name":"hidden"}',
      '{"type":"ref/resource","type":"ref/prompt","name":"ok"}',
      '{"type":"ref/resource","uri":"x://hidden","\\u0075ri":"x://ok"}',
      '["ref/prompt"]',
      '"ref/prompt"',
    ]
  ) {
    assert.throws(() => refOf(ref), { code: "INVALID_PARAMS" }, ref);
  }
});

Deno.test("soundParams() takes whatever else a request may have", () => {
  for (const params of ["{}", '{"name":"a","Extra":1,"_meta":{"a":1,"A":2,"a":3}}']) {
    assert.equal(requestParams(message(params))?.text, params);
  }
  assert.equal(requestParams('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), undefined);
});
