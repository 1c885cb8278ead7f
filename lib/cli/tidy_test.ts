import assert from "node:assert/strict";
import { fromFileUrl } from "@std/path";
import { PROCESS_ENV } from "../config/folders.ts";
import { tidyAtRest, type Tidying, type Work } from "./tidy.ts";

/** A gateway whose work and clock the test sets, looked at every other millisecond. */
function openHouse() {
  const work: Work = { tools: 1, answered: 0 };
  const memory = { held: 80e6, growth: 0 };
  const tidied: Tidying[] = [];
  let time = 0;
  let looks = 0;
  const end = tidyAtRest(() => (looks++, { ...work }), {
    soonMs: 2,
    laterMs: 2,
    held: () => memory.held += memory.growth,
    now: () => time,
    tidy: (kind) => tidied.push(kind),
  });
  return {
    work,
    memory,
    tidied,
    pass: (ms: number) => void (time += ms),
    /** Until it was looked at so often that whatever is due was done. */
    async looked(): Promise<void> {
      const enough = looks + 3;
      for (let tries = 0; looks < enough; tries++) {
        assert.ok(tries < 5_000, "It is not looked at");
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    [Symbol.dispose]: end,
  };
}

Deno.test("tidyAtRest() tidies once after much was done, thoroughly where tools changed", async () => {
  using house = openHouse();
  const { work, tidied } = house;
  await house.looked();
  assert.deepEqual(tidied.splice(0), ["thorough"]);
  work.answered = 499;
  await house.looked();
  assert.deepEqual(tidied.splice(0), [], "a few requests are no reason");
  work.answered = 500;
  await house.looked();
  assert.deepEqual(tidied.splice(0), ["quick"], "the code of calls stays as good as it is");
  work.tools = 2;
  await house.looked();
  assert.deepEqual(tidied.splice(0), ["thorough"], "tools that changed are a reason");
});

Deno.test("tidyAtRest() gives all back once the rest is long, also to a client that pings", async () => {
  using house = openHouse();
  const { work, tidied } = house;
  await house.looked();
  work.answered = 9_000;
  await house.looked();
  assert.deepEqual(tidied.splice(0), ["thorough", "quick"]);
  for (let minute = 0; minute < 6; minute++) {
    work.answered++;
    house.pass(60_000);
    await house.looked();
  }
  assert.deepEqual(tidied, ["thorough"]);
});

Deno.test("tidyAtRest() gives much memory back after a short rest, once if it stays", async () => {
  using house = openHouse();
  const { work, memory, tidied } = house;
  await house.looked();
  assert.deepEqual(tidied.splice(0), ["thorough"]);
  memory.held = 400e6;
  work.answered = 40;
  await house.looked();
  assert.deepEqual(tidied, [], "a client may go on at once");
  house.pass(15_000);
  await house.looked();
  assert.deepEqual(tidied.splice(0), ["thorough"]);
  house.pass(60_000);
  await house.looked();
  assert.deepEqual(tidied.splice(0), [], "what is needed cannot be given back");
  memory.held = 90e6;
  await house.looked();
  memory.held = 200e6;
  await house.looked();
  house.pass(15_000);
  await house.looked();
  assert.deepEqual(tidied, ["thorough"]);
});

Deno.test("tidyAtRest() gives the rest back after a peak that the engine has collected itself", async () => {
  using house = openHouse();
  const { memory, tidied } = house;
  await house.looked();
  assert.deepEqual(tidied.splice(0), ["thorough"]);
  for (const [left, expected] of [[85e6, []], [100e6, ["thorough"]]] as const) {
    memory.held = 160e6;
    await house.looked();
    memory.held = left;
    house.pass(15_000);
    await house.looked();
    assert.deepEqual(tidied.splice(0), expected, `${left} bytes are left`);
  }
});

Deno.test("tidyAtRest() waits until what the tools' change brings about is done", async () => {
  using house = openHouse();
  const { work, memory, tidied } = house;
  await house.looked();
  tidied.length = 0;
  work.tools = 2;
  memory.growth = 5e6;
  await house.looked();
  assert.deepEqual(tidied, [], "the search index is being made");
  memory.growth = 0;
  await house.looked();
  assert.deepEqual(tidied, ["thorough"]);
});

Deno.test("tidyAtRest() waits while something is being done, and does nothing once it ended", async () => {
  let tidied = 0;
  let answered = 0;
  let looks = 0;
  const end = tidyAtRest(() => (looks++, { tools: 1, answered: answered += 1_000 }), {
    soonMs: 2,
    tidy: () => tidied++,
  });
  for (let tries = 0; looks < 5 && tries < 5_000; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  end();
  const seen = looks;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([tidied, looks], [0, seen]);
});

Deno.test({
  name: "tidyAtRest() returns small freed blocks to the system, also those below one in use",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const program = fromFileUrl(new URL("./testing/tidied_process.ts", import.meta.url));
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-q", "--no-lock", "--v8-flags=--expose-gc", program],
      env: PROCESS_ENV,
      stderr: "inherit",
    }).output();
    const { full, least } = JSON.parse(new TextDecoder().decode(stdout));
    assert.ok(full - least >= 32 * 1024 * 1024, `${full} bytes before, ${least} after`);
  },
});
