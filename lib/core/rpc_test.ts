import assert from "node:assert/strict";
import {
  classify,
  errorText,
  memberText,
  readMessage,
  requestText,
  resultText,
  withId,
} from "./rpc.ts";

Deno.test("classify() tells requests, notifications and responses apart, and refuses the rest", () => {
  const cases: [unknown, string | undefined][] = [
    [{ jsonrpc: "2.0", id: 1, method: "ping" }, "request"],
    [{ jsonrpc: "2.0", id: "a", method: "ping", params: {} }, "request"],
    [{ jsonrpc: "2.0", method: "notifications/initialized" }, "notification"],
    [{ jsonrpc: "2.0", id: 0, result: null }, "response"],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } }, "response"],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, undefined],
    [{ jsonrpc: "2.0", id: 1, method: "ping", params: [] }, undefined],
    [{ jsonrpc: "1.0", id: 1, method: "ping" }, undefined],
    [{ jsonrpc: "2.0", id: 1 }, undefined],
    [[], undefined],
    [null, undefined],
  ];
  for (const [value, kind] of cases) {
    assert.equal(classify(value)?.kind, kind, JSON.stringify(value));
  }
  assert.equal(readMessage("garbage"), undefined);
});

Deno.test("withId() changes the envelope's id only, and no other byte", () => {
  const result = '{"id":5,"n":12345678901234567890,"2":1,"1":2}';
  for (
    const text of [
      `{"jsonrpc":"2.0","id":5,"result":${result}}`,
      `{"result":${result},"jsonrpc":"2.0","id":5}`,
      `{ "id" : 5 , "result" : ${result}, "jsonrpc":"2.0" }`,
    ]
  ) {
    const changed = withId(text, 5, "client-7");
    assert.equal(JSON.parse(changed).id, "client-7");
    assert.equal(memberText(changed, "result"), result);
  }
});

Deno.test("the builders print what classify() reads back", () => {
  assert.deepEqual(readMessage(requestText('a"b', "tools/call", '{"name":"x"}')), {
    kind: "request",
    id: 'a"b',
    method: "tools/call",
    params: { name: "x" },
  });
  assert.deepEqual(readMessage(resultText(1, "{}")), { kind: "response", id: 1, isError: false });
  assert.deepEqual(readMessage(errorText(1, -32601, "no")), {
    kind: "response",
    id: 1,
    isError: true,
  });
});
