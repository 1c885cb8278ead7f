import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { keys } from "./keys.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { startKvConnect } from "./testing/kv_connect.ts";
import { withFile } from "./testing/places.ts";

const SETTING = keys.settings("a");

async function namesBeside(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(dirname(path)))).map(({ name }) => name).sort();
}

/** Makes a data file of about 2 MB, or more, and answers its bytes. */
async function makeStore(path: string, records = 40): Promise<Uint8Array<ArrayBuffer>> {
  {
    await using store = await Store.open({ location: path });
    for (let index = 0; index < records; index++) {
      await store.commit({
        sets: [{ key: keys.settings(`s${index}`), value: "x".repeat(50_000) }],
      });
    }
  }
  return await Deno.readFile(path);
}

/** What a damaged or foreign file must not have been: touched. */
async function refuseUntouched(path: string, bytes: Uint8Array) {
  await Deno.writeFile(path, bytes);
  const before = await namesBeside(path);
  const error = await failure(Store.open({ location: path }), "STORAGE_CORRUPT");
  assert.deepEqual(await Deno.readFile(path), bytes);
  assert.deepEqual(await namesBeside(path), before);
  return error;
}

Deno.test("Store.open() says what is wrong with a place that cannot be used", () =>
  withFile(async (path) => {
    const folder = await failure(
      Store.open({ location: dirname(path) }),
      "STORAGE_UNAVAILABLE",
    );
    assert.match(folder.message, /it is a folder, not a file/);
    await Deno.writeTextFile(path, "");
    const inFile = join(path, "kv.sqlite");
    const error = await failure(Store.open({ location: inFile }), "STORAGE_UNAVAILABLE");
    assert.match(error.message, /Not a directory/);
  }));

Deno.test("Store.open() warns of an empty file, and does not reset one with a log", () =>
  withFile(async (path) => {
    await Deno.writeTextFile(path, "");
    const warnings: string[] = [];
    {
      const onWarning = (message: string) => void warnings.push(message);
      await using _store = await Store.open({ location: path, onWarning });
    }
    assert.deepEqual(warnings, ["The data file is empty: starting without data"]);

    await Deno.remove(path);
    await Deno.writeFile(`${path}-wal`, new Uint8Array(4_096));
    const error = await failure(Store.open({ location: path }), "STORAGE_CORRUPT");
    assert.match(error.message, /it is missing, but its log .* exists/);
    assert.deepEqual(await namesBeside(path), ["kv.sqlite-wal"]);
  }));

Deno.test("Store.open() refuses a damaged file with the commands that help", () =>
  withFile(async (path) => {
    const good = await makeStore(path);
    const header = good.slice();
    header.fill(0x5a, 0, 16);
    const error = await refuseUntouched(path, header);
    assert.match(
      error.message,
      /^The data store ".*kv\.sqlite" is damaged: file is not a database/,
    );
    assert.deepEqual(error.toBody().recoverySteps, [
      "Restore a backup: quartermaster restore FILE",
      `Or move the file away and start empty: mv "${path}" "${path}.damaged"`,
    ]);

    const middle = good.slice();
    for (let page = 8_192; page < good.length - 8_192; page += 8_192) {
      middle.fill(0xab, page, page + 4_096);
    }
    assert.match((await refuseUntouched(path, middle)).message, /malformed/);
    const cut = good.slice(0, good.length - 40_960);
    assert.match((await refuseUntouched(path, cut)).message, /malformed/);
    await refuseUntouched(path, crypto.getRandomValues(new Uint8Array(8_192)));
    await refuseUntouched(path, new TextEncoder().encode("my shopping list"));

    await Deno.writeFile(path, good);
    await using store = await Store.open({ location: path });
    assert.equal((await Array.fromAsync(store.list({ prefix: keys.settings() }))).length, 40);
  }));

/** The file with the first page of a table or index overwritten. */
function damagePageOf(path: string, bytes: Uint8Array<ArrayBuffer>, name: string) {
  const database = new DatabaseSync(path);
  const found = database.prepare("select rootpage from sqlite_master where name = ?").get(name);
  database.close();
  const start = (Number(found?.["rootpage"]) - 1) * 4_096;
  return bytes.slice().fill(0xab, start, start + 4_096);
}

Deno.test("Store.open() refuses damage that would end the process, in a large file too", () =>
  withFile(async (path) => {
    const good = await makeStore(path, 200);
    const readAtOpen = [
      "sqlite_autoindex_queue_1",
      "sqlite_autoindex_queue_running_1",
      "kv_expiration_ms_idx",
      "migration_state",
    ];
    for (const name of readAtOpen) {
      await Deno.writeFile(path, good);
      const error = await refuseUntouched(path, damagePageOf(path, good, name));
      assert.match(error.message, /malformed/);
    }
  }));

Deno.test("Store.open() finds damage anywhere in a small file's structure", () =>
  withFile(async (path) => {
    const good = await makeStore(path);
    const leaf = good.slice();
    // A page that begins with 10 is a leaf of an index tree, as the records are.
    let last = 0;
    for (let page = 0; page < good.length; page += 4_096) {
      if (good[page] === 10 && good[page + 1] === 0) last = page;
    }
    leaf.fill(0xab, last, last + 4_096);
    assert.match((await refuseUntouched(path, leaf)).message, /malformed/);
  }));

Deno.test("Store.read() says which record is damaged and others stay readable", () =>
  withFile(async (path) => {
    await makeStore(path);
    const database = new DatabaseSync(path);
    database.prepare("update kv set v = x'7b22' where k = ?")
      .run(new Uint8Array([2, ...new TextEncoder().encode("settings\0\x02s3\0")]));
    database.close();
    await using store = await Store.open({ location: path });
    const error = await failure(store.read(keys.settings("s3")), "STORAGE_CORRUPT");
    assert.match(error.message, /record "settings\/s3" is not JSON/);
    assert.equal((await store.read(keys.settings("s4")))?.value, "x".repeat(50_000));
  }));

Deno.test("Store.open() refuses another program's SQLite file and leaves it as it is", () =>
  withFile(async (path) => {
    for (const mode of ["delete", "wal"]) {
      const database = new DatabaseSync(path);
      database.exec(`pragma journal_mode = ${mode}; create table if not exists songs (title)`);
      database.close();
      const error = await refuseUntouched(path, await Deno.readFile(path));
      assert.match(error.message, /does not belong to Quartermaster: .* a table "songs"/);
      assert.match(error.toBody().recoverySteps.join("\n"), /mv ".*" ".*\.foreign"/);
    }
  }));

Deno.test("Store.open() refuses another program's Deno KV and leaves it as it is", () =>
  withFile(async (path) => {
    const kv = await Deno.openKv(path);
    await kv.set(["songs", 1], "Ode");
    kv.close();
    const error = await refuseUntouched(path, await Deno.readFile(path));
    assert.match(error.message, /does not belong to Quartermaster: it contains another program's/);
  }));

Deno.test("Store.open() refuses a KV whose schema entry is not ours", () =>
  withFile(async (path) => {
    const kv = await Deno.openKv(path);
    await kv.set(keys.schema(), { version: 3 });
    kv.close();
    const error = await failure(Store.open({ location: path }), "STORAGE_CORRUPT");
    assert.match(error.message, /its "schema" entry belongs to another program/);
  }));

Deno.test("Store.open() refuses a store that a restore was cut short in", () =>
  withFile(async (path) => {
    {
      await using store = await Store.open({ location: path });
      await store.commit({ sets: [{ key: keys.restoring(), value: { at: 1 } }] });
    }
    const error = await failure(Store.open({ location: path }), "STORAGE_UNAVAILABLE");
    assert.match(error.message, /run the restore again/);
  }));

Deno.test("Store.open() gives up on a remote KV that does not answer", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of listener) accepted.push(connection);
  })();
  const location = `http://127.0.0.1:${listener.addr.port}/?secret=1`;
  const isTokenSet = Deno.env.get("DENO_KV_ACCESS_TOKEN") !== undefined;
  if (!isTokenSet) Deno.env.set("DENO_KV_ACCESS_TOKEN", "none");
  try {
    const opening = Store.open({ location, remoteLimitMs: 200 });
    const error = await failure(opening, "STORAGE_UNAVAILABLE");
    assert.match(error.message, /127\.0\.0\.1:\d+\/: it did not answer within 1 s$/);
    assert.match(error.toBody().recoveryAction, /QUARTERMASTER_KV_TOKEN/);
  } finally {
    if (!isTokenSet) Deno.env.delete("DENO_KV_ACCESS_TOKEN");
    listener.close();
    await accepting;
    for (const connection of accepted) connection.close();
  }
});

Deno.test({
  name: "Store asks a remote KV that does not answer only now and then, and goes on once it does",
  // What was given up goes on in Deno's client until it is answered.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    Deno.env.set("DENO_KV_ACCESS_TOKEN", "token");
    await using server = startKvConnect();
    await using store = await Store.open({ location: server.url, remoteLimitMs: 500 });
    const key = keys.settings("a");
    await store.commit({ sets: [{ key, value: 1 }] });
    server.hang();
    const before = server.requests;
    await Promise.all([1, 2, 3].map(() => failure(store.read(key), "STORAGE_UNAVAILABLE")));
    for (let nth = 0; nth < 50; nth++) {
      const error = await failure(store.read(key), "STORAGE_UNAVAILABLE");
      assert.match(error.message, /does not answer/);
    }
    assert.ok(server.requests <= before + 4, `${server.requests - before} requests`);
    assert.equal(store.health().state, "degraded");
    server.resume();
    for (let left = 1_000; left > 0; left--) {
      const found = await store.read(key).catch(() => undefined);
      if (found) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.fail("It does not go on");
  },
});

Deno.test({
  name: "Store goes on with a remote KV that lost one request and answers others",
  // What was given up goes on in Deno's client until it is answered.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    Deno.env.set("DENO_KV_ACCESS_TOKEN", "token");
    await using server = startKvConnect();
    await using store = await Store.open({ location: server.url, remoteLimitMs: 500 });
    const key = keys.settings("a");
    await store.commit({ sets: [{ key, value: 1 }] });
    server.loseNext();
    const lost = failure(store.read(key), "STORAGE_UNAVAILABLE");
    for (let nth = 0; nth < 5; nth++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal((await store.read(key))?.value, 1);
    }
    await lost;
    assert.equal((await store.read(key))?.value, 1);
    server.resume();
  },
});

Deno.test("Store keeps records and versionstamps on a KV server that is started again", () =>
  withFile(async (path) => {
    Deno.env.set("DENO_KV_ACCESS_TOKEN", "token");
    const large = "x".repeat(900_000);
    let stale: string, current: string;
    {
      await using server = startKvConnect(path);
      await using store = await Store.open({ location: server.url });
      stale = await store.commit({ sets: [{ key: SETTING, value: 1 }] });
      current = await store.commit({ sets: [{ key: SETTING, value: large }] });
    }
    await using server = startKvConnect(path);
    await using store = await Store.open({ location: server.url });
    assert.deepEqual(await store.read(SETTING), {
      key: SETTING,
      value: large,
      versionstamp: current,
    });
    const saveAt = (versionstamp: string) =>
      store.commit({
        checks: [{ key: SETTING, versionstamp }],
        sets: [{ key: SETTING, value: 2 }],
      });
    await failure(saveAt(stale), "CONFLICT");
    const next = await saveAt(current);
    assert.ok(next > current, `${next} does not follow ${current}`);
    await failure(saveAt(current), "CONFLICT");
  }));

Deno.test("Store.read() says that the store was closed", async () => {
  const store = await Store.open({ location: ":memory:" });
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  const error = await failure(store.read(SETTING), "STORAGE_UNAVAILABLE");
  assert.match(error.message, /it was closed$/);
});

Deno.test("Collection.list() leaves out a record it cannot read, with a warning", async () => {
  const { ServersRepository } = await import("./servers_repository.ts");
  const warnings: unknown[] = [];
  await using store = await Store.open({
    location: ":memory:",
    onWarning: (message, details) => void warnings.push([message, details?.["key"]]),
  });
  const servers = new ServersRepository(store);
  await servers.save({ name: "good", spec: { type: "demo" }, addedAt: 1 }, null);
  await store.commit({ sets: [{ key: keys.servers("bad"), value: { name: "bad" } }] });
  const listed = await Array.fromAsync(servers.list());
  assert.deepEqual(listed.map(({ value }) => value.name), ["good"]);
  assert.deepEqual(warnings, [
    ["Skipped an unreadable server", ["servers", "bad"]],
  ]);
  await failure(servers.find("bad"), "STORAGE_CORRUPT");
});
