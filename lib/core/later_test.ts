import assert from "node:assert/strict";
import { Later } from "./later.ts";

Deno.test("Later does in order what was added, after the turn, when asked, or when it is much", async () => {
  using later = new Later(assert.ifError);
  const done: number[] = [];
  later.add(() => void done.push(1));
  later.add(() => void done.push(2));
  await Promise.resolve();
  assert.deepEqual([...done], []);
  later.run();
  assert.deepEqual([...done], [1, 2]);

  later.add(() => void done.push(3));
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual([...done], [1, 2, 3]);

  done.length = 0;
  for (let count = 0; count < 100; count++) later.add(() => void done.push(count));
  assert.ok(done.length >= 50 && done.length < 100, `${done.length}`);
});

Deno.test("Later does the rest where one piece of work fails", () => {
  const errors: unknown[] = [];
  using later = new Later((error) => errors.push(error));
  let isDone = false;
  const broken = new Error("broken");
  later.add(() => {
    throw broken;
  });
  later.add(() => isDone = true);
  later.run();
  assert.deepEqual([isDone, errors], [true, [broken]]);
});

Deno.test("Later leaves nothing undone at its end, nor after it", () => {
  const later = new Later(assert.ifError);
  const done: string[] = [];
  later.add(() => void done.push("before"));
  later[Symbol.dispose]();
  later.add(() => void done.push("after"));
  assert.deepEqual(done, ["before", "after"]);
});
