import assert from "node:assert/strict";
import { tidyAtRest, type Tidying, type Work } from "./tidy.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("tidyAtRest() tidies once after much was done, thoroughly where tools changed", async () => {
  let work: Work = { tools: 1, answered: 0 };
  const tidied: [Tidying, Work][] = [];
  const tidy = (kind: Tidying) => tidied.push([kind, work]);
  const end = tidyAtRest(() => work, { soonMs: 5, tidy });
  await pause(100);
  assert.deepEqual(tidied, [["thorough", { tools: 1, answered: 0 }]]);
  work = { tools: 1, answered: 499 };
  await pause(100);
  assert.equal(tidied.length, 1, "a few requests are no reason");
  work = { tools: 1, answered: 500 };
  await pause(100);
  assert.deepEqual(tidied.at(-1), ["quick", work], "the code of calls stays as good as it is");
  work = { tools: 2, answered: 501 };
  await pause(100);
  assert.deepEqual(tidied.slice(2), [["thorough", work]], "tools that changed are a reason");
  end();
  work = { tools: 3, answered: 9_000 };
  await pause(50);
  assert.equal(tidied.length, 3);
});

Deno.test("tidyAtRest() gives all back once the rest is long", async () => {
  const work: Work = { tools: 1, answered: 0 };
  const tidied: Tidying[] = [];
  const tidy = (kind: Tidying) => tidied.push(kind);
  const end = tidyAtRest(() => ({ ...work }), { soonMs: 5, longMs: 150, tidy });
  await pause(50);
  work.answered = 9_000;
  await pause(400);
  end();
  assert.deepEqual(tidied, ["thorough", "quick", "thorough"]);
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
