import assert from "node:assert/strict";
import { forwardNow } from "./clock.ts";

Deno.test("forwardNow() does not go back with the clock", () => {
  const real = Date.now;
  try {
    const before = forwardNow();
    Date.now = () => before + 1_000;
    assert.equal(forwardNow(), before + 1_000);
    Date.now = () => before - 3_600_000;
    assert.equal(forwardNow(), before + 1_000);
  } finally {
    Date.now = real;
  }
});
