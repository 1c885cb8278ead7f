import { GatewayError } from "../../core/errors.ts";
import { keys } from "../keys.ts";
import { restoreBackup } from "../restore.ts";
import { Store } from "../store.ts";
import { LARGE, largeValue, SMALL } from "./large_values.ts";

async function say(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}

async function saveLarge(store: Store): Promise<void> {
  let n = Number((await store.read(SMALL))?.value ?? 0);
  for (let isReady = false;; isReady = true) {
    n++;
    await store.commit({
      sets: [{ key: LARGE, value: largeValue(n) }, { key: SMALL, value: n }],
    });
    // Not before: a kill that comes before any save would mean nothing.
    if (!isReady) await say("ready");
  }
}

async function count(store: Store, times: number): Promise<void> {
  const key = keys.settings("count");
  for (let left = times; left > 0;) {
    const record = await store.read(key);
    try {
      await store.commit({
        checks: [{ key, versionstamp: record?.versionstamp ?? null }],
        sets: [{ key, value: Number(record?.value ?? 0) + 1 }],
      });
      left--;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "CONFLICT") throw error;
    }
  }
}

async function announce(store: Store, times: number): Promise<void> {
  for (let left = times; left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await store.commit({ sets: [{ key: keys.settings("news"), value: left }] });
    await say(`${await store.generation()} ${Date.now()}`);
  }
}

async function restore(path: string, file: string): Promise<void> {
  await say("ready");
  await restoreBackup({ file, location: path });
}

// A second process on a store, for the tests: child.ts PATH JOB [ARGUMENT]
if (import.meta.main) {
  const [path = "", job, argument = ""] = Deno.args;
  if (job === "restore") {
    await restore(path, argument);
  } else {
    await using store = await Store.open({ location: path });
    if (job === "save-large") await saveLarge(store);
    else if (job === "count") await count(store, Number(argument));
    else if (job === "announce") await announce(store, Number(argument));
  }
}
