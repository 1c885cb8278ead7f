import assert from "node:assert/strict";
import { callParams, soundParams } from "./sound_params.ts";

function message(params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
}

Deno.test("callParams() changes the name and keeps every other byte", () => {
  const params = '{ "arguments": {"n": 12345678901234567890, "Name": 1}, "name" : "git.status" }';
  assert.equal(
    callParams(message(params), "status"),
    '{ "arguments": {"n": 12345678901234567890, "Name": 1}, "name" : "status" }',
  );
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
    assert.throws(() => soundParams(message(params)), { code: "INVALID_PARAMS" }, params);
  }
});

Deno.test("soundParams() takes whatever else a request may have", () => {
  for (const params of ["{}", '{"name":"a","Extra":1,"_meta":{"a":1,"A":2,"a":3}}']) {
    assert.equal(soundParams(message(params))?.text, params);
  }
  assert.equal(soundParams('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), undefined);
});
