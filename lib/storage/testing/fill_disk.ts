import assert from "node:assert/strict";
import { join } from "node:path";
import { keys } from "../keys.ts";
import { Store } from "../store.ts";
import { failure } from "./failures.ts";

/** What a full disk may and may not do; runs on a small file system of its own. */
export async function fillDisk(folder: string): Promise<void> {
  const path = join(folder, "kv.sqlite");
  const filler = join(folder, "filler");
  await Deno.writeFile(filler, new Uint8Array(400_000));
  const closed = join(folder, "closed.sqlite");
  {
    await using store = await Store.open({ location: closed });
    await store.commit({ sets: [{ key: keys.settings("kept"), value: 1 }] });
  }
  {
    await using store = await Store.open({ location: path });
    const value = "x".repeat(20_000);
    let saved = 0;
    const fill = async () => {
      for (; saved < 500; saved++) {
        await store.commit({ sets: [{ key: keys.settings(`s${saved}`), value }] });
      }
    };
    const error = await failure(fill(), "STORAGE_FULL");
    assert.equal(error.message, `Cannot save to "${path}": the disk is full`);
    const health = store.health();
    assert.equal(health.state, "degraded");

    const large = { key: keys.settings("large"), value: "y".repeat(2_000_000) };
    await failure(store.commit({ sets: [large] }), "STORAGE_FULL");
    assert.equal(await store.read(large.key), undefined);
    for (let index = 0; index < saved; index++) {
      assert.equal((await store.read(keys.settings(`s${index}`)))?.value, value);
    }
    assert.equal(await store.read(keys.settings(`s${saved}`)), undefined);
    assert.deepEqual(store.health(), health, "a read does not make it well");

    await Deno.remove(filler);
    await store.commit({ sets: [{ key: keys.settings("again"), value }] });
    assert.deepEqual(store.health(), { state: "ok" });
  }
  using stuffing = await Deno.open(filler, { write: true, create: true });
  const stuff = async () => {
    while (true) await stuffing.write(new Uint8Array(4_096));
  };
  await assert.rejects(stuff(), /No space left/);
  await failure(Store.open({ location: closed }), "STORAGE_FULL");
  await Deno.remove(path);
  await Deno.remove(`${path}-wal`);
  await using store = await Store.open({ location: closed });
  assert.equal((await store.read(keys.settings("kept")))?.value, 1);
}

if (import.meta.main) await fillDisk(Deno.args[0] ?? "");
