import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { backupStore, verifyBackup } from "./backup.ts";
import { keys } from "./keys.ts";
import { LeasesRepository } from "./leases_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { withFile } from "./testing/places.ts";
import { textOfBytes } from "./testing/texts.ts";

const SETTING = keys.settings("a");

Deno.test("backupStore() writes a private file with all records and no process's own", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const large = textOfBytes(900_000, 2);
    await store.commit({
      sets: [{ key: SETTING, value: { deep: [1, null, "ż"] } }, {
        key: keys.settings("large"),
        value: large,
      }],
    });
    const leases = new LeasesRepository(store);
    await leases.acquire({ id: "me", pid: 1, host: "here", startedAt: 1 });
    const file = join(dirname(path), "backup.ndjson");
    const result = await backupStore(store, file, { now: () => 0 });
    assert.deepEqual(result, { file, entries: 2, createdAt: new Date(0) });
    assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);

    const lines = (await Deno.readTextFile(file)).trimEnd().split("\n");
    assert.deepEqual(lines.slice(0, 3), [
      '{"format":"quartermaster-backup","formatVersion":1,"schemaVersion":2,' +
      '"createdAt":"1970-01-01T00:00:00.000Z"}',
      '{"key":["settings","a"],"value":{"deep":[1,null,"ż"]}}',
      `{"key":["settings","large"],"value":${JSON.stringify(large)}}`,
    ]);
    assert.match(lines[3] ?? "", /^\{"end":true,"entries":2,"sha256":"[0-9a-f]{64}"\}$/);
    assert.equal(lines.length, 4);
    await backupStore(store, file);
  }));

Deno.test("backupStore() replaces a backup and nothing else", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const overData = await failure(backupStore(store, path), "INVALID_ARGUMENTS");
    assert.match(overData.message, /the file exists and is not a backup$/);
    const noFolder = backupStore(store, join(dirname(path), "no", "backup"));
    await failure(noFolder, "INVALID_ARGUMENTS");
    const left = (await Array.fromAsync(Deno.readDir(dirname(path)))).map(({ name }) => name);
    assert.deepEqual(left.filter((name) => name.endsWith(".tmp")), []);
  }));

Deno.test("backupStore() is of one moment, or says that it cannot be", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const [first, last] = [keys.servers("a"), keys.settings("z")];
    const save = (value: number) =>
      store.commit({ sets: [{ key: first, value }, { key: last, value }] });
    await save(0);
    const file = join(dirname(path), "backup.ndjson");
    let changes = 0;
    const busy = new Proxy(store, {
      get(target, name) {
        if (name === "list") {
          return async function* (...args: Parameters<Store["list"]>) {
            for await (const record of target.list(...args)) {
              yield record;
              if (record.key[0] === "servers" && changes > 0) await save(changes--);
            }
          };
        }
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    changes = 2;
    await backupStore(busy, file);
    const lines = (await Deno.readTextFile(file)).split("\n").slice(1, 3);
    assert.deepEqual(lines.map((line) => JSON.parse(line).value), [1, 1]);
    changes = 100;
    const error = await failure(backupStore(busy, file), "OPERATION_IN_PROGRESS");
    assert.match(error.message, /^Cannot back up .* other processes keep changing it$/);
    await verifyBackup(file);
  }));

Deno.test("verifyBackup() refuses what is not whole", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    await store.commit({ sets: [{ key: SETTING, value: "text" }] });
    const file = join(dirname(path), "backup.ndjson");
    await backupStore(store, file);
    const good = await Deno.readTextFile(file);
    const lines = good.trimEnd().split("\n");
    const cases: [string, RegExp][] = [
      ["", /it is empty/],
      ["hello", /it is not a backup file/],
      [good.replace('"formatVersion":1', '"formatVersion":9'), /format 9 is newer/],
      [lines.slice(0, 2).join("\n"), /its end is missing/],
      [good.slice(0, good.length - 20), /line 3 is not an entry/],
      [[lines[0], lines[2]].join("\n"), /entries are missing/],
      [good.replace("text", "tixt"), /its checksum does not match/],
      [`${good}{"key":["x"],"value":1}\n`, /extra data after its end/],
    ];
    for (const [text, pattern] of cases) {
      await Deno.writeTextFile(file, text);
      assert.match((await failure(verifyBackup(file), "INVALID_ARGUMENTS")).message, pattern);
    }
    await Deno.remove(file);
    await failure(verifyBackup(file), "INVALID_ARGUMENTS");
  }));
