import assert from "node:assert/strict";
import { AesBox, sealedBy } from "./sealing.ts";
import { failure } from "./testing/failures.ts";

const KEY = new Uint8Array(32).fill(7);
const OTHER = new Uint8Array(32).fill(8);

Deno.test("AesBox.open() gives back what seal() was given, for the same purpose", async () => {
  const box = await AesBox.of(KEY);
  for (const text of ["", "hunter2", "ż \n\t ${secret:A}", "x".repeat(100_000)]) {
    for (const purpose of [undefined, "secret/A"]) {
      const sealed = await box.seal(text, purpose);
      assert.ok(sealedBy(sealed));
      assert.equal(sealedBy(sealed), box.keyId);
      if (text.length > 1) assert.ok(!sealed.includes(text));
      assert.equal(await box.open(sealed, purpose), text);
    }
  }
});

Deno.test("AesBox.seal() never seals the same text to the same thing", async () => {
  const box = await AesBox.of(KEY);
  const sealed = await Promise.all(Array.from({ length: 200 }, () => box.seal("same")));
  assert.equal(new Set(sealed).size, 200);
});

Deno.test("AesBox.open() refuses what was sealed for another purpose", async () => {
  const box = await AesBox.of(KEY);
  const sealed = await box.seal("hunter2", "secret/A");
  for (const purpose of ["secret/B", "", undefined]) {
    const error = await failure(box.open(sealed, purpose), "SECRET_UNREADABLE");
    assert.match(error.message, /modified, or copied from another record$/);
  }
});

Deno.test("AesBox.open() tells another key from a changed text", async () => {
  const sealed = await (await AesBox.of(KEY)).seal("hunter2");
  const other = await AesBox.of(OTHER);
  const wrong = await failure(other.open(sealed), "SECRET_UNREADABLE");
  assert.match(
    wrong.message,
    /encrypted with key [0-9a-f]{8}, but the current key is [0-9a-f]{8}$/,
  );
  const box = await AesBox.of(KEY);
  const at = sealed.length - 5;
  const flipped = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
  assert.match((await failure(box.open(flipped), "SECRET_UNREADABLE")).message, /it was modified/);
  for (const text of ["", "hunter2", "qm1.zz.x", `qm2${sealed.slice(3)}`]) {
    const error = await failure(box.open(text), "SECRET_UNREADABLE");
    assert.match(error.message, /this version does not support its format$/);
  }
});

Deno.test("AesBox.of() wants 32 bytes", async () => {
  await assert.rejects(AesBox.of(new Uint8Array(16)), RangeError);
});
