import assert from "node:assert/strict";
import { END_CHARS } from "../../core/rpc.ts";
import { LineSplitter } from "./stdio_streams.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function collect(options: { maxBytes?: number; headBytes?: number } = {}) {
  const lines: string[] = [];
  const long: [string, number][] = [];
  const tails: string[] = [];
  const splitter = new LineSplitter({
    maxBytes: 100,
    headBytes: 4,
    ...options,
    onLine: (line) => lines.push(line),
    onLongLine: (head, size, tail) => {
      long.push([head, size]);
      tails.push(tail);
    },
  });
  return { splitter, lines, long, tails };
}

Deno.test("LineSplitter.push() gives the same lines however the bytes are cut", () => {
  const text = bytes("one\ntwö\r\n\n€uro\nlast");
  for (let size = 1; size <= text.length; size++) {
    const { splitter, lines } = collect();
    for (let at = 0; at < text.length; at += size) splitter.push(text.subarray(at, at + size));
    splitter.end();
    assert.deepEqual(lines, ["one", "twö", "", "€uro", "last"], `in pieces of ${size}`);
  }
});

Deno.test("LineSplitter.push() keeps the head of a long line only and goes on after it", () => {
  const text = bytes(`short\n${"x".repeat(101)}\n${"y".repeat(100)}\n${"z".repeat(500)}`);
  for (const size of [1, 7, 99, 100, 101, 102, text.length]) {
    const { splitter, lines, long } = collect();
    for (let at = 0; at < text.length; at += size) splitter.push(text.subarray(at, at + size));
    splitter.end();
    assert.deepEqual(lines, ["short", "y".repeat(100)], `in pieces of ${size}`);
    assert.deepEqual(long, [["xxxx", 101], ["zzzz", 500]], `in pieces of ${size}`);
  }
});

Deno.test("LineSplitter.push() gives the end of a long line too", () => {
  const [first, second] = ["x".repeat(290) + "0123456789!", "y".repeat(500) + "end"];
  const text = bytes(`${first}\n${second}\n`);
  for (let size = 1; size <= text.length; size++) {
    const { splitter, tails } = collect();
    for (let at = 0; at < text.length; at += size) splitter.push(text.subarray(at, at + size));
    assert.deepEqual(
      tails,
      [first.slice(-END_CHARS), second.slice(-END_CHARS)],
      `in pieces of ${size}`,
    );
  }
});

Deno.test("LineSplitter.push() keeps long lines whole, wherever its blocks end", () => {
  const MEBIBYTE = 1024 * 1024;
  const first = "€".repeat(MEBIBYTE);
  const text = bytes(`${first}\r\n${first}!\n${"x".repeat(4 * MEBIBYTE)}end\n`);
  for (const size of [1_000, 64 * 1024 - 1, text.length]) {
    const { splitter, lines, long, tails } = collect({ maxBytes: 3 * MEBIBYTE + 1 });
    for (let at = 0; at < text.length; at += size) splitter.push(text.subarray(at, at + size));
    assert.deepEqual(lines.map((line) => line.length), [MEBIBYTE, MEBIBYTE + 1]);
    assert.ok(lines[0] === first && lines[1] === `${first}!`, `in pieces of ${size}`);
    assert.deepEqual(long, [["xxxx", 4 * MEBIBYTE + 3]]);
    assert.ok(tails[0]!.length === END_CHARS && tails[0]!.endsWith("xxend"));
  }
});

Deno.test("LineSplitter.push() keeps nothing of the chunk it is given", () => {
  const { splitter, lines } = collect();
  const chunk = bytes("begin ");
  splitter.push(chunk);
  chunk.set(bytes("end\n__"));
  splitter.push(chunk.subarray(0, 4));
  assert.deepEqual(lines, ["begin end"]);
});
