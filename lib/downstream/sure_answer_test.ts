import assert from "node:assert/strict";
import { sureAnswerId } from "./sure_answer.ts";

Deno.test("sureAnswerId() knows the answers of the usual printers, and only them", () => {
  for (
    const text of [
      '{"jsonrpc":"2.0","id":5,"result":{"id":6}}',
      '{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":""}}',
      '{"result":{"id":6},"jsonrpc":"2.0","id":5}',
      '{"error":{},"jsonrpc":"2.0","id":5}',
    ]
  ) assert.equal(sureAnswerId(text), 5, text);
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
  ) assert.notEqual(sureAnswerId(text), 5, text);
});
