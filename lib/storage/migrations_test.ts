import assert from "node:assert/strict";
import { keys } from "./keys.ts";
import type { Migration } from "./migrations.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { withFile } from "./testing/places.ts";

function append(version: number, onRun: () => void = () => {}): Migration {
  return {
    version,
    async up({ list, commit }) {
      for await (const { key, value } of list(keys.settings())) {
        onRun();
        await commit({ sets: [{ key, value: `${value}${version}` }] });
      }
    },
  };
}

async function valueIn(path: string, migrations: Migration[]): Promise<unknown> {
  await using store = await Store.open({ location: path, migrations });
  return (await store.read(keys.settings("a")))?.value;
}

async function makeFirst(path: string): Promise<void> {
  await using store = await Store.open({ location: path, migrations: [] });
  await store.commit({ sets: [{ key: keys.settings("a"), value: "v" }] });
}

Deno.test("migrate() runs what is missing, in order and once", () =>
  withFile(async (path) => {
    await makeFirst(path);
    assert.equal(await valueIn(path, [append(2)]), "v2");
    assert.equal(await valueIn(path, [append(2), append(3), append(4)]), "v234");
    assert.equal(await valueIn(path, [append(2), append(3), append(4)]), "v234");
  }));

Deno.test("migrate() starts a new store at the newest version", () =>
  withFile(async (path) => {
    const never = append(2, () => assert.fail("nothing to migrate"));
    await using store = await Store.open({ location: path, migrations: [never] });
    assert.equal(store.schemaVersion, 2);
  }));

Deno.test("migrate() refuses a newer store and changes nothing", () =>
  withFile(async (path) => {
    await makeFirst(path);
    await valueIn(path, [append(2)]);
    const before = await Deno.readFile(path);
    const error = await failure(Store.open({ location: path, migrations: [] }), "STORAGE_NEWER");
    assert.match(
      error.message,
      /has schema version 2; this version of Quartermaster supports .* up to 1/,
    );
    assert.deepEqual(await Deno.readFile(path), before);
  }));

Deno.test("migrate() keeps the old version when a step fails, and can run again", () =>
  withFile(async (path) => {
    await makeFirst(path);
    const broken = append(2, () => {
      throw new Error("no");
    });
    await assert.rejects(Store.open({ location: path, migrations: [broken] }), /no/);
    assert.equal(await valueIn(path, []), "v");
    assert.equal(await valueIn(path, [append(2)]), "v2");
  }));

Deno.test("migrate() lets one of two processes do it", () =>
  withFile(async (path) => {
    await makeFirst(path);
    const slow: Migration = {
      version: 2,
      async up({ commit }) {
        // The other one gets in between the look at the version and the commit.
        assert.equal(await valueIn(path, [append(2)]), "v2");
        await commit({ sets: [{ key: keys.settings("a"), value: "too late" }] });
      },
    };
    assert.equal(await valueIn(path, [slow]), "v2");
  }));
