import assert from "node:assert/strict";
import { TokenUse } from "./token_use.ts";

Deno.test("TokenUse.note() keeps what could not be noted for the next time, and notes the rest", async () => {
  const noted: string[] = [];
  const used = [new Map([["a", 1], ["b", 1], ["c", 1]]), new Map([["b", 2]]), new Map()];
  const failing = new Set(["a", "b"]);
  const use = new TokenUse({
    take: () => used.shift() ?? new Map(),
    touch(id, time) {
      if (failing.has(id)) return Promise.reject(new Error(`${id} is locked`));
      return Promise.resolve(void noted.push(`${id} ${time}`));
    },
  });
  await assert.rejects(use.note(), /a is locked/);
  assert.deepEqual(noted, ["c 1"]);
  failing.clear();
  await use.note();
  assert.deepEqual(noted, ["c 1", "a 1", "b 2"]);
  await use.note();
  assert.equal(noted.length, 3);
});
