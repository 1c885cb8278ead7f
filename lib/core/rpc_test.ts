import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import {
  classify,
  elementSpans,
  elementTexts,
  errorText,
  isDeeper,
  memberSpans,
  memberText,
  readMessage,
  replaceSpan,
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

Deno.test("memberSpans() finds every member of any object, however it is printed", () => {
  fc.assert(fc.property(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.constantFrom(undefined, 1, "\t", "\r\n "),
    (object, indent) => {
      const text = JSON.stringify(object, null, indent);
      const spans = memberSpans(text);
      const parsed = JSON.parse(text);
      assert.deepEqual([...spans.keys()].sort(), Object.keys(parsed).sort());
      for (const [key, { start, end }] of spans) {
        assert.deepEqual(JSON.parse(text.slice(start, end)), parsed[key]);
      }
    },
  ));
});

Deno.test("replaceSpan() changes one member and keeps every other byte", () => {
  const text = '{ "big": 12345678901234567890, "b": {"2":1,"1":2}, "id" : "x\\"}" , "10":null}';
  const id = memberSpans(text).get("id")!;
  assert.equal(
    replaceSpan(text, id, "7"),
    '{ "big": 12345678901234567890, "b": {"2":1,"1":2}, "id" : 7 , "10":null}',
  );
});

Deno.test("memberSpans() throws on what is no object, and ends on what is cut off", () => {
  for (
    const text of [
      "",
      "[]",
      "1",
      "null",
      '{"a"',
      '{"a":',
      '{"a":[1',
      '{"a":"x',
      '{"a":1 "b":2}',
      "{",
      "{a:1}",
    ]
  ) {
    assert.throws(() => memberSpans(text), SyntaxError, text);
  }
});

Deno.test("elementSpans() finds every element of any array", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2), (array, indent) => {
      const text = JSON.stringify(array, null, indent);
      const values = elementSpans(text).map(({ start, end }) => JSON.parse(text.slice(start, end)));
      assert.deepEqual(values, JSON.parse(text));
    }),
  );
  for (const text of ["", "{}", "[1", "[1 2]"]) {
    assert.throws(() => elementSpans(text), SyntaxError, text);
  }
});

Deno.test("elementTexts() keeps what a parse would lose", () => {
  assert.deepEqual(elementTexts('[{"n":12345678901234567890,"2":1,"1":2}, "a,]\\""]'), [
    '{"n":12345678901234567890,"2":1,"1":2}',
    '"a,]\\""',
  ]);
});

Deno.test("readMessage() keeps all digits of an id, and takes params of null for none", () => {
  for (const digits of ["9007199254740993", "-9223372036854775808", "12345678901234567890"]) {
    const message = readMessage(`{"jsonrpc":"2.0","id":${digits},"method":"ping","params":null}`);
    assert.ok(message?.kind === "request");
    assert.deepEqual(message.params, {});
    assert.equal(resultText(message.id, "{}"), `{"jsonrpc":"2.0","id":${digits},"result":{}}`);
    assert.match(errorText(message.id, 1, "x"), new RegExp(`"id":${digits},`));
    const question = `{"method":"x","id":${digits}}`;
    assert.equal(withId(question, message.id, "own"), '{"method":"x","id":"own"}');
    assert.equal(withId('{"method":"x","id":"own"}', "own", message.id), question);
  }
  assert.equal(readMessage('{"jsonrpc":"2.0","id":1.5,"result":{}}')?.kind, "response");
});

Deno.test("isDeeper() counts levels outside of strings", () => {
  assert.ok(!isDeeper("[".repeat(3) + "]".repeat(3), 3));
  assert.ok(isDeeper("[".repeat(4) + "]".repeat(4), 3));
  assert.ok(isDeeper(`{"a":[{"b":"}}]]","c":[0]}]}`, 3));
  assert.ok(!isDeeper(`{"a":"[[[[[[","b":"\\"[[[[","c":[[],[],[],[]]}`, 3));
  assert.ok(isDeeper(`[${"[],".repeat(50)}[[[1]]]]`, 3));
});
