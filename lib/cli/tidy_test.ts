import assert from "node:assert/strict";
import { tidyAtRest, type Work } from "./tidy.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("tidyAtRest() tidies once after much was done, and not while it is being done", async () => {
  let work: Work = { tools: 1, answered: 0 };
  const tidied: Work[] = [];
  const end = tidyAtRest(() => work, { soonMs: 5, tidy: () => tidied.push(work) });
  await pause(100);
  assert.deepEqual(tidied, [{ tools: 1, answered: 0 }]);
  work = { tools: 1, answered: 499 };
  await pause(100);
  assert.equal(tidied.length, 1, "a few requests are no reason");
  work = { tools: 1, answered: 500 };
  await pause(100);
  assert.deepEqual(tidied.at(-1), work);
  work = { tools: 2, answered: 501 };
  await pause(100);
  assert.equal(tidied.length, 3, "tools that changed are");
  end();
  work = { tools: 3, answered: 9_000 };
  await pause(50);
  assert.equal(tidied.length, 3);
});

Deno.test("tidyAtRest() waits while something is being done", async () => {
  let tidied = 0;
  let answered = 0;
  const end = tidyAtRest(() => ({ tools: 1, answered: answered += 1_000 }), {
    soonMs: 2,
    tidy: () => tidied++,
  });
  await pause(60);
  end();
  assert.equal(tidied, 0);
});
