import assert from "node:assert/strict";
import { keys } from "../../storage/keys.ts";
import { PromotionsRepository } from "../../storage/promotions_repository.ts";
import { Store } from "../../storage/store.ts";
import { withFile } from "../../storage/testing/places.ts";
import { canonicalAt, SERVER, TOOL } from "./promotion_child.ts";

const START_LIMIT_MS = 30_000;

export interface PromotionKillResult {
  kills: number;
  /** How many promotions and reverts came through in all. */
  steps: number;
  /** After how many kills a description was promoted, and after how many none was. */
  promoted: number;
  reverted: number;
  /** How often the kill came after the commit and before its maker could say so. */
  unheard: number;
}

/**
 * Kills a process in the midst of promoting and reverting, again and again, and looks each time
 * whether what is in force is what the newest step of the history says.
 *
 * `deno run -A --no-lock lib/optimizer/testing/promotion_kill_loop.ts 200` runs it for as long as
 * you like.
 */
export async function promotionKillLoop(
  path: string,
  kills: number,
): Promise<PromotionKillResult> {
  const result = { kills, steps: 0, promoted: 0, reverted: 0, unheard: 0 };
  for (let kill = 1; kill <= kills; kill++) {
    const said = await killAtWork(path, Math.random() * 60);
    await using store = await Store.open({ location: path });
    const step = await checkNewest(store, `kill ${kill}`);
    assert(step > result.steps, `kill ${kill}: nothing was done after step ${result.steps}`);
    assert(
      step === said || step === said + 1,
      `kill ${kill}: step ${said} was done, the store is at ${step}`,
    );
    result.steps = step;
    if (step > said) result.unheard++;
    if (await isPromoted(store)) result.promoted++;
    else result.reverted++;
  }
  await using store = await Store.open({ location: path });
  await checkHistory(store, result.steps);
  return result;
}

function isPromoted(store: Store): Promise<boolean> {
  return store.read(keys.promotions(SERVER, TOOL)).then((record) => record !== undefined);
}

/** The number of the newest step, which must be what is in force, and of the same commit. */
async function checkNewest(store: Store, when: string): Promise<number> {
  const repository = new PromotionsRepository(store);
  const newest = await repository.newest(SERVER, TOOL);
  const inForce = await repository.find(SERVER, TOOL);
  assert(newest !== undefined, `${when}: there is no history`);
  assert.deepEqual(inForce?.value ?? null, newest.promotion, `${when}: between two steps`);
  const event = await store.read(keys.promotionEvents(SERVER, TOOL, newest.id));
  if (inForce) assert.equal(inForce.versionstamp, event?.versionstamp, `${when}: two commits`);
  const step = Number(newest.reason);
  // Every step was announced, in its own commit.
  assert.equal(await store.generation(), BigInt(step), `${when}: not announced`);
  return step;
}

/** Every step is there once and whole. */
async function checkHistory(store: Store, steps: number): Promise<void> {
  let expected = steps;
  for (const event of await new PromotionsRepository(store).history(SERVER, TOOL)) {
    assert.equal(Number(event.reason), expected, "a step is missing or out of order");
    if (event.promotion) {
      assert.equal(event.promotion.description, `Description ${expected}`);
      assert(event.promotion.canonicalDescription === canonicalAt(expected));
    }
    expected--;
  }
  assert.equal(expected, 0, "the oldest steps are missing");
}

/** Kills a child a while after its first step, and answers the last step that it said was done. */
async function killAtWork(path: string, afterMs: number): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--allow-all",
      import.meta.resolve("./promotion_child.ts"),
      path,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let [text, isAtWork] = ["", false];
  let timer = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (isAtWork) continue;
    isAtWork = true;
    clearTimeout(timer);
    timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  }
  const { signal } = await child.status;
  clearTimeout(timer);
  assert(isAtWork && signal === "SIGKILL", "The child did not work until it was killed");
  // A line without its end was cut off.
  return Number(text.slice(0, text.lastIndexOf("\n")).split("\n").at(-1));
}

if (import.meta.main) {
  await withFile(async (path) => {
    const result = await promotionKillLoop(path, Number(Deno.args[0] ?? "100"));
    await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(result)}\n`));
  });
}
