import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { backupStore } from "./backup.ts";
import { swapNames } from "./data_file.ts";
import { keys } from "./keys.ts";
import { KvClient, parseLocation } from "./kv_client.ts";
import { LeasesRepository } from "./leases_repository.ts";
import { encodeRecord } from "./records.ts";
import { restoreBackup } from "./restore.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { places, withFile } from "./testing/places.ts";
import { killAtWork, spawnChild } from "./testing/spawn_child.ts";
import { textOfBytes } from "./testing/texts.ts";

const NAME = keys.settings("name");
const LARGE = keys.settings("large");

async function save(location: string, value: unknown): Promise<void> {
  await using store = await Store.open({ location });
  await store.commit({ sets: [{ key: NAME, value }] });
}

async function load(location: string): Promise<unknown> {
  await using store = await Store.open({ location });
  return (await store.read(NAME))?.value;
}

async function namesBeside(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(dirname(path)))).map(({ name }) => name).sort();
}

/** A backup of a store of many and large records. */
async function makeBackup(file: string): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  await store.commit({ sets: [{ key: NAME, value: "old" }] });
  await store.commit({ sets: [{ key: LARGE, value: textOfBytes(3_000_000, 1) }] });
  for (let start = 0; start < 1_200; start += 600) {
    await store.commit({
      sets: Array.from({ length: 600 }, (_, index) => ({
        key: keys.settings(`n${start + index}`),
        value: start + index,
      })),
    });
  }
  await backupStore(store, file);
}

async function withBackup(
  run: (file: string, path: string) => Promise<void>,
): Promise<void> {
  await withFile(async (path) => {
    const file = join(dirname(path), "backup.ndjson");
    await makeBackup(file);
    await run(file, path);
  });
}

for (const place of places()) {
  if (!place.isShared || place.ignore) continue;
  Deno.test(`restoreBackup() brings everything back [${place.name}]`, () =>
    withBackup((file) =>
      place.use(async (location) => {
        await save(location, "new");
        const result = await restoreBackup({ file, location, force: true });
        assert.equal(result.entries, 1_202);
        await using store = await Store.open({ location });
        assert.equal((await store.read(NAME))?.value, "old");
        assert((await store.read(LARGE))?.value === textOfBytes(3_000_000, 1));
        const settings = await Array.fromAsync(store.list({ prefix: keys.settings() }));
        assert.equal(settings.length, 1_202);
        const again = `${file}.again`;
        await backupStore(store, again);
        const [one, other] = await Promise.all(
          [file, again].map((name) => Deno.readTextFile(name)),
        );
        const records = (text = "") => text.split("\n").slice(1, -2);
        assert.deepEqual(records(other), records(one));
      })
    ));

  Deno.test(`restoreBackup() keeps off a store that a gateway uses [${place.name}]`, () =>
    withBackup((file) =>
      place.use(async (location) => {
        await save(location, "new");
        {
          await using store = await Store.open({ location });
          const leases = new LeasesRepository(store, { ttlMs: 60_000 });
          await leases.acquire({ id: "a", pid: 4711, host: "box", startedAt: 1 });
          const error = await failure(
            restoreBackup({ file, location, force: true }),
            "OPERATION_IN_PROGRESS",
          );
          assert.match(error.message, /a gateway is using it \(process 4711 on box\)$/);
          assert.match(error.toBody().recoveryAction, /wait \d+ s$/);
        }
        assert.equal(await load(location), "new");
        const inAnHour = () => Date.now() + 3_600_000;
        await restoreBackup({ file, location, force: true, now: inAnHour });
        assert.equal(await load(location), "old");
      })
    ));
}

Deno.test("restoreBackup() keeps the file that was there", () =>
  withBackup(async (file, path) => {
    await save(path, "new");
    const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
    const { movedTo } = await restoreBackup({ file, location: path, now: () => at });
    assert.equal(movedTo, `${path}.before-restore-2026-01-02T03-04-05-006Z`);
    assert.equal(await load(path), "old");
    assert.equal(await load(movedTo ?? ""), "new");
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assert.deepEqual(await namesBeside(path), [
      "backup.ndjson",
      "kv.sqlite",
      "kv.sqlite.before-restore-2026-01-02T03-04-05-006Z",
    ]);
  }));

Deno.test("restoreBackup() replaces a damaged file, and another program's only when forced", () =>
  withBackup(async (file, path) => {
    await Deno.writeFile(path, crypto.getRandomValues(new Uint8Array(8_192)));
    await Deno.writeFile(`${path}-wal`, new Uint8Array(100));
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const { movedTo } = await restoreBackup({ file, location: path, onWarning });
    assert.equal(await load(path), "old");
    assert.equal((await Deno.stat(`${movedTo}-wal`)).size, 100);
    assert.match(warnings.join(), /is damaged/);

    await Deno.remove(path);
    const kv = await Deno.openKv(path);
    await kv.set(["songs"], 1);
    kv.close();
    await failure(restoreBackup({ file, location: path }), "STORAGE_CORRUPT");
    await restoreBackup({ file, location: path, force: true });
    assert.equal(await load(path), "old");
  }));

Deno.test("restoreBackup() changes nothing for a backup that is not whole or is too new", () =>
  withBackup(async (file, path) => {
    await save(path, "new");
    const good = await Deno.readTextFile(file);
    await Deno.writeTextFile(file, good.replace('"old"', '"odd"'));
    await failure(restoreBackup({ file, location: path }), "INVALID_ARGUMENTS");
    const text = '{"format":"quartermaster-backup","formatVersion":1,"schemaVersion":99,' +
      '"createdAt":"1970-01-01T00:00:00.000Z"}\n';
    const sha256 = new Uint8Array(
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)),
    ).toHex();
    await Deno.writeTextFile(file, `${text}{"end":true,"entries":0,"sha256":"${sha256}"}\n`);
    await failure(restoreBackup({ file, location: path }), "STORAGE_NEWER");
    await failure(restoreBackup({ file, location: ":memory:" }), "STORAGE_NEWER");
    await Deno.writeTextFile(file, good);
    await failure(restoreBackup({ file, location: ":memory:" }), "INVALID_ARGUMENTS");
    assert.equal(await load(path), "new");
    assert.deepEqual(await namesBeside(path), ["backup.ndjson", "kv.sqlite"]);
  }));

Deno.test("Store.open() finishes a restore that was killed between its two renames", () =>
  withFile(async (path) => {
    const { ready, before } = swapNames(path, "2026-01-02T03-04-05-006Z");
    await save(ready, "old");
    await save(before, "new");
    await Deno.writeFile(`${path}-wal`, new Uint8Array(100));
    const warnings: string[] = [];
    {
      const onWarning = (message: string) => void warnings.push(message);
      await using store = await Store.open({ location: path, onWarning });
      assert.equal((await store.read(NAME))?.value, "old");
    }
    assert.deepEqual(warnings, ["Finished an interrupted restore"]);
    assert.equal((await Deno.stat(`${before}-wal`)).size, 100);
  }));

Deno.test("restoreBackup() leaves the old or the new store when it is killed", () =>
  withBackup(async (file, path) => {
    const seen = new Set<unknown>();
    for (let kill = 0; kill < 6; kill++) {
      await save(path, "new");
      await killAtWork(spawnChild(path, "restore", file), kill * 50);
      await using store = await Store.open({ location: path });
      const name = (await store.read(NAME))?.value;
      assert(name === "old" || name === "new", `kill ${kill}: neither old nor new`);
      if (name === "old") {
        assert((await store.read(LARGE))?.value === textOfBytes(3_000_000, 1));
      }
      seen.add(name);
    }
    assert(seen.has("new"), "every kill came too late to mean anything");
  }));

Deno.test("Store.open() keeps the old file where a restore was killed before its swap", () =>
  withBackup(async (file, path) => {
    await save(path, "new");
    const { ready, building } = swapNames(path, "2026-01-02T03-04-05-006Z");
    await save(ready, "leftover");
    await Deno.writeTextFile(building, "half");
    assert.equal(await load(path), "new");
    await Deno.rename(path, `${path}.mine`);
    assert.equal(await load(path), undefined);
    await restoreBackup({ file, location: path });
    const names = (await namesBeside(path)).filter((name) => /\.restor(ed|ing)-/.test(name));
    assert.deepEqual(names, []);
  }));

for (const place of places()) {
  if (place.name !== "remote") continue;
  Deno.test("restoreBackup() fills a remote store only when it is empty or forced [remote]", () =>
    withBackup((file) =>
      place.use(async (location) => {
        await restoreBackup({ file, location });
        assert.equal(await load(location), "old");
        await save(location, "new");
        const error = await failure(restoreBackup({ file, location }), "CONFLICT");
        assert.match(error.message, /it is not empty$/);
        assert.equal(await load(location), "new");
      })
    ));

  Deno.test("restoreBackup() can be run again where it was cut short [remote]", () =>
    withBackup((file) =>
      place.use(async (location) => {
        await save(location, "new");
        let generation;
        {
          await using store = await Store.open({ location });
          generation = await store.generation();
          using client = await KvClient.open(parseLocation(location));
          await client.commit({
            sets: [{ key: keys.restoring(), value: encodeRecord({ at: 1 }) }],
            deletes: [keys.schema()],
          });
          const leases = new LeasesRepository(store);
          const holder = { id: "a", pid: 1, host: "here", startedAt: 1 };
          await failure(leases.acquire(holder), "CONFLICT");
        }
        await failure(Store.open({ location }), "STORAGE_UNAVAILABLE");
        await restoreBackup({ file, location });
        await using store = await Store.open({ location });
        assert.equal((await store.read(NAME))?.value, "old");
        assert(await store.generation() > generation);
      })
    ));
}
