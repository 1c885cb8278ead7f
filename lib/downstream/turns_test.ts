import assert from "node:assert/strict";
import { Turns } from "./turns.ts";

const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("Turns.take() lets a few through at once, and the others turn by turn, in order", async () => {
  using turns = new Turns(3);
  const through: number[] = [];
  const taken = Array.from({ length: 10 }, async (_, index) => {
    await turns.take();
    through.push(index);
  });
  await Promise.resolve();
  assert.deepEqual(through, [0, 1, 2]);
  const counts: number[] = [];
  for (let turn = 0; turn < 20 && through.length < 10; turn++) {
    await nextTurn();
    counts.push(through.length);
  }
  assert.ok(counts.length >= 3, `${counts}`);
  await Promise.all(taken);
  assert.deepEqual(through, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

Deno.test("Turns[Symbol.dispose]() keeps nobody waiting", async () => {
  const turns = new Turns(1);
  const taken = [turns.take(), turns.take(), turns.take()];
  turns[Symbol.dispose]();
  await Promise.all(taken);
});
