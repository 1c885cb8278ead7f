import assert from "node:assert/strict";
import { readLine, readPiped } from "./access_commands.ts";

function pieces(...texts: string[]): AsyncIterable<Uint8Array> {
  return ReadableStream.from(texts.map((text) => new TextEncoder().encode(text)));
}

function keys(...texts: string[]): (buffer: Uint8Array) => Promise<number | null> {
  const waiting = texts.map((text) => new TextEncoder().encode(text));
  return (buffer) => {
    const next = waiting.shift();
    if (next === undefined) return Promise.resolve(null);
    buffer.set(next);
    return Promise.resolve(next.length);
  };
}

Deno.test("readPiped() takes everything but the line break at the end", async () => {
  assert.equal(await readPiped(pieces("hun", "ter2\n")), "hunter2");
  assert.equal(await readPiped(pieces("a\nb\r\n")), "a\nb");
  assert.equal(await readPiped(pieces("a\n\n")), "a\n");
  assert.equal(await readPiped(pieces("ż")), "ż");
  assert.equal(await readPiped(pieces()), "");
});

Deno.test("readPiped() stops reading what is far too long", async () => {
  let given = 0;
  async function* endless() {
    for (; given < 1_000; given++) yield await Promise.resolve(new Uint8Array(10_000).fill(97));
  }
  assert.ok((await readPiped(endless())).length > 32 * 1024);
  assert.ok(given < 10);
});

Deno.test("readPiped() refuses what is no text", async () => {
  const bytes = ReadableStream.from([Uint8Array.of(0xff, 0xfe)]);
  await assert.rejects(readPiped(bytes), /not valid UTF-8/);
});

Deno.test("readLine() reads a line with its corrections", async () => {
  assert.equal(await readLine(keys("hunter2\r")), "hunter2");
  assert.equal(await readLine(keys("h", "u", "n\n", "rest")), "hun");
  assert.equal(await readLine(keys("ab\x7fc\x08d\n")), "ad");
  assert.equal(await readLine(keys("aż\x7fb\n")), "ab");
  assert.equal(await readLine(keys("wrong\x15right\n")), "right");
  assert.equal(await readLine(keys("end")), "end");
});

Deno.test("readLine() sets nothing where it is broken off", async () => {
  await assert.rejects(readLine(keys("hun\x03")), /Nothing was set/);
  await assert.rejects(readLine(keys("\x04")), /Nothing was set/);
});
