import assert from "node:assert/strict";
import { once } from "./once.ts";

Deno.test("once() does the work once for all who ask", async () => {
  let times = 0;
  const ask = once(() => Promise.resolve(++times));
  assert.deepEqual(await Promise.all([ask(), ask()]), [1, 1]);
  assert.equal(await ask(), 1);
});

Deno.test("once() does work that failed again", async () => {
  let times = 0;
  const ask = once(() =>
    ++times < 2 ? Promise.reject(new Error("locked")) : Promise.resolve(times)
  );
  await assert.rejects(Promise.all([ask(), ask()]), /locked/);
  assert.equal(times, 1);
  assert.equal(await ask(), 2);
  assert.equal(await ask(), 2);
});
