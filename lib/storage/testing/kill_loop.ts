import assert from "node:assert/strict";
import { keys } from "../keys.ts";
import { Store } from "../store.ts";
import { LARGE, largeValue, SMALL } from "./large_values.ts";
import { withFile } from "./places.ts";
import { killAtWork, spawnChild } from "./spawn_child.ts";

export interface KillLoopResult {
  kills: number;
  /** How many saves came through in all. */
  saves: number;
  /** Sets of parts whose save never came to its commit; the sweep at the end clears them. */
  abandoned: number;
}

/**
 * Kills a process in the midst of saving large records, again and again, and looks each time
 * whether the two records that are saved together are whole and of one save.
 *
 * `deno run -A --no-lock lib/storage/testing/kill_loop.ts 300` runs it for as long as you like.
 */
export async function killLoop(path: string, kills: number): Promise<KillLoopResult> {
  let abandoned = 0;
  let saves = 0;
  for (let kill = 0; kill < kills; kill++) {
    await killAtWork(spawnChild(path, "save-large"), 20 + Math.random() * 150);
    await using store = await Store.open({ location: path });
    const [large, small] = [await store.read(LARGE), await store.read(SMALL)];
    const n = Number(small?.value ?? 0);
    assert(n >= saves, `kill ${kill}: save ${saves} was lost, ${n} is there`);
    if (n > 0) {
      assert.equal(large?.versionstamp, small?.versionstamp);
      assert(large?.value === largeValue(n), `kill ${kill}: record ${n} is not whole`);
    }
    saves = n;
    const owners = await Array.fromAsync(store.list({ prefix: keys.partOwners() }));
    abandoned = Math.max(abandoned, owners.length - 1);
  }
  {
    const inAnHour = () => Date.now() + 3_600_000;
    await using _sweeping = await Store.open({ location: path, now: inAnHour });
  }
  await using store = await Store.open({ location: path });
  const owners = await Array.fromAsync(store.list({ prefix: keys.partOwners() }));
  assert(owners.length <= 1, `${owners.length} sets of parts are left after the sweep`);
  if (saves > 0) assert((await store.read(LARGE))?.value === largeValue(saves));
  return { kills, saves, abandoned };
}

if (import.meta.main) {
  await withFile(async (path) => {
    const result = await killLoop(path, Number(Deno.args[0] ?? "100"));
    await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(result)}\n`));
  });
}
