import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { readLines } from "./stdio_streams.ts";
import { StreamBudget } from "./stream_budget.ts";

function open(onLine: (line: string) => void) {
  const stream = new PassThrough();
  const onLongLine = assert.fail;
  return { stream, pump: readLines(stream, { maxBytes: 100, headBytes: 10, onLine, onLongLine }) };
}

Deno.test("readLines() yields every line, including the last one, and reports the end", async () => {
  const lines: string[] = [];
  const { stream, pump } = open((line) => lines.push(line));
  for (const part of ["a", "b\nc", "\n\nd"]) stream.write(part);
  stream.end();
  assert.equal(await pump.ended, undefined);
  assert.deepEqual(lines, ["ab", "c", "", "d"]);
});

Deno.test("readLines() ends with the error that its callback throws, and does not throw it again", async () => {
  for (const text of ["line\n", "the last"]) {
    const broken = new Error("cannot be read");
    const { stream, pump } = open(() => {
      throw broken;
    });
    stream.end(text);
    assert.equal(await pump.ended, broken);
    assert.ok(stream.destroyed);
  }
});

Deno.test("readLines() reports the error of a broken stream, and stops when it is canceled", async () => {
  const broken = open(assert.fail);
  broken.stream.destroy(new Error("gone"));
  assert.match(String(await broken.pump.ended), /gone/);
  const cancelled = open(assert.fail);
  cancelled.pump.cancel();
  assert.equal(await cancelled.pump.ended, undefined);
});

Deno.test("readLines() yields to other work, however fast lines arrive", async () => {
  const MOST_LINES = 2_000_000;
  let [lines, turns] = [0, 0];
  const chunk = new Uint8Array(16 * 1024).fill("\n".charCodeAt(0));
  const stream = new Readable({
    read() {
      this.push(lines < MOST_LINES ? chunk : null);
    },
  });
  const reader = readLines(stream, {
    maxBytes: 100,
    headBytes: 10,
    onLine: () => void lines++,
    onLongLine: () => assert.fail(),
  });
  const timer = setInterval(() => {
    turns++;
    reader.cancel();
  });
  await reader.ended;
  clearInterval(timer);
  assert.ok(turns > 0 && lines < MOST_LINES, `${turns} turns in ${lines} lines`);
});

Deno.test("readLines() strains its budget with a line that does not end", async () => {
  const [onLine, onLongLine] = [assert.fail, assert.fail];
  // Its clock stands still, so that nothing is forgiven.
  const budget = new StreamBudget(() => 0);
  const stream = new PassThrough();
  const reader = readLines(stream, { maxBytes: 100, headBytes: 10, onLine, onLongLine }, budget);
  const strained = Promise.withResolvers<void>();
  const write = () => {
    if (budget.isStrained) strained.resolve();
    else stream.write(new Uint8Array(16 * 1024), write);
  };
  write();
  await strained.promise;
  reader.cancel();
  await reader.ended;
});
