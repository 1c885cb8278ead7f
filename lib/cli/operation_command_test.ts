import assert from "node:assert/strict";
import { arrayOf } from "./operation_command.ts";

async function textOf(count: number): Promise<string> {
  const lines = Array.from({ length: count }, (_, n) => `{"subject":"a\u202Eb ${n}"}\n`);
  return (await Array.fromAsync(arrayOf(ReadableStream.from(lines)))).join("");
}

Deno.test("arrayOf() writes one JSON value, in which nothing is hidden", async () => {
  for (const count of [0, 1, 3]) {
    const text = await textOf(count);
    assert.equal(JSON.parse(text).length, count);
    assert.ok(text.endsWith("]\n") && !text.includes("\u202E"), text);
  }
  assert.deepEqual(JSON.parse(await textOf(1)), [{ subject: "a\u202Eb 0" }]);
});
