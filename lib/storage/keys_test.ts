import assert from "node:assert/strict";
import { keyPart, timeOfId } from "./keys.ts";

Deno.test("keyPart() is the text itself wherever that makes a key", () => {
  for (const text of ["status", "git.push", "", "a b/ü🚀", "x".repeat(300)]) {
    assert.equal(keyPart(text), text);
  }
});

Deno.test("keyPart() tells long and odd texts apart that the store could not", async () => {
  const long = "x".repeat(5_000);
  const texts = [long, `${long}y`, "\ud800", "\udbff", "\ufffd", "é".repeat(200), keyPart(long)];
  const parts = texts.map(keyPart);
  assert.equal(new Set(parts).size, texts.length);
  using kv = await Deno.openKv(":memory:");
  for (const part of parts) await kv.set(["promotion_events", part, part, part], part);
  const found = await Array.fromAsync(kv.list({ prefix: [] }), ({ key }) => key[1]);
  assert.deepEqual(new Set(found), new Set(parts));
});

Deno.test("keyPart() makes keys that fit, whatever the text", async () => {
  using kv = await Deno.openKv(":memory:");
  const part = keyPart("\0".repeat(300));
  await kv.set(["promotion_events", part, part, part], 1);
});

Deno.test("timeOfId() reads the time that an id begins with, and nothing else", () => {
  const now = Date.now();
  assert.equal(timeOfId(`${now.toString(36)}-here-1`), now);
  for (const id of ["../etc", "", "-x", "abc", "A-b"]) assert.equal(timeOfId(id), undefined, id);
});
