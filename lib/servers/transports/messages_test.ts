import assert from "node:assert/strict";
import { excerpt, messagesIn, RepeatedWarning } from "./messages.ts";
import { responseId, responseIdFromEnds } from "../../core/rpc.ts";

Deno.test("messagesIn() takes a batch apart and keeps each message's text, on one line", () => {
  const [note, answer, garbage] = messagesIn(
    '[{"jsonrpc":"2.0","method":"a"},\n{"jsonrpc":"2.0",\n"id":1,"result":12345678901234567890}, 3]',
  );
  assert.equal(note?.message?.kind, "notification");
  assert.equal(answer?.message?.kind, "response");
  assert.equal(answer?.text, '{"jsonrpc":"2.0", "id":1,"result":12345678901234567890}');
  assert.equal(garbage?.message, undefined);
  assert.deepEqual(messagesIn("<html>"), [{ text: "<html>", message: undefined }]);
});

Deno.test("excerpt() is short and on one line", () => {
  assert.equal(excerpt("a\n\tb\0c"), "a b c");
  assert.equal(excerpt("x".repeat(500)).length, 203);
});

Deno.test("sureAnswerId() knows the answers of the usual printers, and only them", () => {
  for (
    const text of [
      '{"jsonrpc":"2.0","id":5,"result":{"id":6}}',
      '{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":""}}',
      '{"result":{"id":6},"jsonrpc":"2.0","id":5}',
      '{"error":{},"jsonrpc":"2.0","id":5}',
    ]
  ) assert.equal(responseId(text), 5, text);
  for (
    const text of [
      '{"jsonrpc":"2.0","id":55,"result":{}}',
      '{"jsonrpc":"2.0","id":5,"method":"ping"}',
      '{"method":"ping","jsonrpc":"2.0","id":5}',
      '{"result":{},"jsonrpc":"2.0","id":15}',
      '{"jsonrpc":"2.0","id":"5","result":{}}',
      '{"jsonrpc":"2.0","id":5,"result":{',
      '{"result":{},"jsonrpc":"2.0","id":1.5e1}',
      '{"result":{"jsonrpc":"2.0","id":5}}',
      '["result":{},"jsonrpc":"2.0","id":5}',
      "",
    ]
  ) assert.notEqual(responseId(text), 5, text);
});

Deno.test("responseIdFromEnds() finds the id at either end, and takes none from inside a result", () => {
  const cases: [head: string, tail: string, id: number | undefined][] = [
    ['{"jsonrpc":"2.0","id":7,"result":{"a', 'z"}}', 7],
    ['{"id":8,"error":{"a', 'z"}}', 8],
    ['{"result":{"a', 'z"},"jsonrpc":"2.0","id":9}\r', 9],
    ['{"jsonrpc": "2.0", "id": 7, "result": {"a', 'z"}}', 7],
    ['{"id": "8", "jsonrpc": "2.0", "error": {"a', 'z"}}', 8],
    ['[ {"jsonrpc" : "2.0",\t"id" : 7 , "result" : {"a', 'z"}} ]', 7],
    ['{"jsonrpc": "2.0", "result": {"a', 'z"}, "id": 9 }', 9],
    ['[{"result":{"a', 'z"},"id":9,"jsonrpc":"2.0"}]', 9],
    ['{"jsonrpc":"2.0","method":"x","params":{"a', '"id":9}}', undefined],
    ['{"jsonrpc":"2.0","method":"x","params":{"a', '},"id":9}', undefined],
    ['{"result":{"a', '"z":{"id":9}}}', undefined],
    ['{"result":{"a', '"\\"id":9}', undefined],
  ];
  for (const [head, tail, id] of cases) {
    assert.equal(responseIdFromEnds(head, tail), id, head + tail);
  }
});

Deno.test("RepeatedWarning.report() tells five, then a count once a minute", () => {
  let now = 0;
  const told: string[] = [];
  const warning = new RepeatedWarning(
    (text) => told.push(text),
    (count) => `${count} more`,
    () => now,
  );
  for (let index = 0; index < 100; index++) warning.report(`w${index}`);
  assert.deepEqual(told, ["w0", "w1", "w2", "w3", "w4"]);
  now = 60_000;
  warning.report("late");
  assert.equal(told.at(-1), "96 more");
  now = 60_001;
  warning.report("later");
  assert.equal(told.length, 6);
  warning.flush();
  warning.flush();
  assert.deepEqual(told.slice(6), ["1 more"]);
});

Deno.test("messagesIn() takes a batch, but none that would keep other work waiting", () => {
  const batch = (count: number) =>
    JSON.stringify(Array.from({ length: count }, () => ({ jsonrpc: "2.0", method: "x" })));
  assert.equal(messagesIn(batch(1_000)).filter(({ message }) => message).length, 1_000);
  const [refused, ...others] = messagesIn(batch(1_001));
  assert.equal(refused?.message, undefined);
  assert.deepEqual(others, []);
});
