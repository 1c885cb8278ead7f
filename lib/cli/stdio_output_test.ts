import assert from "node:assert/strict";
import { StdioOutput } from "./stdio_serve.ts";

Deno.test("StdioOutput writes whole lines, and has no room while the reader is slow", async () => {
  let text = "";
  const gate = Promise.withResolvers<void>();
  const stream = new WritableStream<Uint8Array>({
    async write(chunk) {
      await gate.promise;
      text += new TextDecoder().decode(chunk);
    },
  });
  const output = new StdioOutput(stream, () => assert.fail("it has not ended"));
  output.write('{"a":\n1}');
  await output.ready();
  output.write(`"${"x".repeat(5 * 1024 * 1024)}"`);
  let isReady = false;
  const ready = output.ready().then(() => isReady = true);
  for (let turns = 0; turns < 50; turns++) await Promise.resolve();
  assert.equal(isReady, false);
  gate.resolve();
  await ready;
  await output.flushed();
  assert.deepEqual(text.split("\n").map((line) => line.slice(0, 8)), ['{"a": 1}', '"xxxxxxx', ""]);
});

Deno.test("StdioOutput tells once that the reader has gone, and keeps nobody waiting", async () => {
  let ends = 0;
  const stream = new WritableStream<Uint8Array>({
    write: () => Promise.reject(new Deno.errors.BrokenPipe("gone")),
  });
  const output = new StdioOutput(stream, () => ends++);
  output.write("x".repeat(5 * 1024 * 1024));
  await output.ready();
  output.write("{}");
  await output.flushed();
  assert.equal(ends, 1);
});
