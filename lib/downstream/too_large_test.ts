import assert from "node:assert/strict";
import { answeredId } from "./too_large.ts";

Deno.test("answeredId() finds the id at either end, and takes none from inside a result", () => {
  assert.equal(answeredId('{"jsonrpc":"2.0","id":7,"result":{"a', 'z"}}'), 7);
  assert.equal(answeredId('{"id":8,"error":{"a', 'z"}}'), 8);
  assert.equal(answeredId('{"result":{"a', 'z"},"jsonrpc":"2.0","id":9}\r'), 9);
  assert.equal(answeredId('{"jsonrpc":"2.0","method":"x","params":{"a', '"id":9}}'), undefined);
  assert.equal(answeredId('{"result":{"a', '"z":{"id":9}}}'), undefined);
  assert.equal(
    answeredId('{"jsonrpc":"2.0","result":{"a', ',"jsonrpc":"2.0","id":9}'),
    undefined,
  );
});
