import assert from "node:assert/strict";
import { excerpt, messagesIn } from "./messages.ts";

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
