import assert from "node:assert/strict";
import { errorText, resultText } from "../core/rpc.ts";
import { looksFailed } from "./protocol.ts";

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
