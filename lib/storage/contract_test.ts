import assert from "node:assert/strict";
import * as z from "zod";
import { followGeneration } from "./follow.ts";
import { keys } from "./keys.ts";
import { LeasesRepository } from "./leases_repository.ts";
import { type AddedServer, ServersRepository } from "./servers_repository.ts";
import { type Setting, SettingsRepository } from "./settings_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { places } from "./testing/places.ts";
import { textOfBytes } from "./testing/texts.ts";

function server(name: string, command = "run"): AddedServer {
  return { name, spec: { type: "stdio", command, args: [], env: {} }, addedAt: 1 };
}

async function namesOf(list: AsyncIterable<{ value: AddedServer }>): Promise<string[]> {
  return (await Array.fromAsync(list)).map(({ value }) => value.name);
}

async function setsOfParts(store: Store): Promise<number> {
  return (await Array.fromAsync(store.list({ prefix: keys.partOwners() }))).length;
}

for (const place of places()) {
  if (place.ignore) {
    Deno.test.ignore(`The contract of the repositories [${place.name}]`, () => {});
    continue;
  }
  const test = (name: string, run: (store: Store, location: string) => Promise<void>) =>
    Deno.test(`${name} [${place.name}]`, () =>
      place.use(async (location) => {
        await using store = await Store.open({ location });
        await run(store, location);
      }));

  test("Collection.find() and resolve() find what save() saved", async (store) => {
    const servers = new ServersRepository(store);
    assert.equal(await servers.find("git"), undefined);
    const missing = await failure(servers.resolve("git"), "SERVER_NOT_FOUND");
    assert.equal(missing.message, 'There is no server "git"');
    const versionstamp = await servers.save(server("git"), null);
    assert.deepEqual(await servers.resolve("git"), { value: server("git"), versionstamp });
  });

  test("Collection.save() refuses a stale versionstamp", async (store) => {
    const servers = new ServersRepository(store);
    const first = await servers.save(server("git"), null);
    await failure(servers.save(server("git"), null), "CONFLICT");
    const second = await servers.save(server("git", "walk"), first);
    await failure(servers.save(server("git", "swim"), first), "CONFLICT");
    await failure(servers.delete("git", first), "CONFLICT");
    assert.equal((await servers.resolve("git")).versionstamp, second);
    await servers.delete("git", second);
    await servers.delete("git");
    await failure(servers.save(server("git"), second), "CONFLICT");
  });

  test("Collection.list() goes through pages in both directions", async (store) => {
    const servers = new ServersRepository(store);
    const names = Array.from({ length: 230 }, (_, index) => `s${String(index).padStart(3, "0")}`);
    await store.commit({
      sets: names.map((name) => ({ key: keys.servers(name), value: server(name) })),
    });
    assert.deepEqual(await namesOf(servers.list()), names);
    assert.deepEqual(await namesOf(servers.list({ after: "s004", limit: 3 })), [
      "s005",
      "s006",
      "s007",
    ]);
    assert.deepEqual(await namesOf(servers.list({ after: "s002", reverse: true })), [
      "s001",
      "s000",
    ]);
    assert.deepEqual(await namesOf(servers.list({ after: "s229" })), []);
  });

  test("Store.commit() keeps records of every size whole and leaves no parts", async (store) => {
    const sizes = [59_999, 60_000, 60_001, 65_535, 65_536, 65_537, 120_000, 716_800, 3_000_000];
    const key = keys.settings("size");
    for (const [seed, size] of [...sizes, ...sizes.toReversed()].entries()) {
      const value = textOfBytes(size, seed);
      await store.commit({ sets: [{ key, value }] });
      const read = (await store.read(key))?.value;
      assert(read === value, `${size} bytes came back otherwise`);
      assert.equal(await setsOfParts(store), size > 60_000 ? 1 : 0);
    }
    await store.commit({ sets: [{ key, value: textOfBytes(3_000_000) }] });
    await store.commit({ deletes: [key] });
    assert.equal(await store.read(key), undefined);
    assert.equal(await setsOfParts(store), 0);
  });

  test("Store.commit() changes all or nothing, large records too", async (store) => {
    const [one, other] = [keys.settings("one"), keys.settings("other")];
    const large = textOfBytes(900_000, 2);
    await store.commit({ sets: [{ key: one, value: 1 }] });
    const stale = store.commit({
      checks: [{ key: one, versionstamp: null }],
      sets: [{ key: one, value: large }, { key: other, value: large }],
    });
    await failure(stale, "CONFLICT");
    assert.equal((await store.read(one))?.value, 1);
    assert.equal(await store.read(other), undefined);
    assert.equal(await setsOfParts(store), 0);
    const versionstamp = await store.commit({
      sets: [{ key: one, value: large }, { key: other, value: large }],
    });
    assert.equal((await store.read(one))?.versionstamp, versionstamp);
    assert((await store.read(other))?.value === large);
  });

  test("Store.read() never sees half of a large record that is being replaced", async (store) => {
    const key = keys.settings("busy");
    const values = [
      textOfBytes(400_000, 0),
      textOfBytes(1_500_000, 1),
      textOfBytes(50, 0),
    ];
    await store.commit({ sets: [{ key, value: values[0] }] });
    let isWriting = true;
    const writing = (async () => {
      for (let index = 0; index < 12; index++) {
        await store.commit({ sets: [{ key, value: values[index % values.length] }] });
      }
      isWriting = false;
    })();
    let reads = 0;
    while (isWriting) {
      const read = (await store.read(key))?.value;
      assert(values.some((value) => value === read));
      reads++;
    }
    await writing;
    assert(reads > 0);
  });

  test("Store.commit() says what is too much for one commit", async (store) => {
    const checks = Array.from({ length: 11 }, (_, index) => ({
      key: keys.settings(String(index)),
      versionstamp: null,
    }));
    await failure(store.commit({ checks }), "LIMIT_EXCEEDED");
    const sets = Array.from({ length: 1_001 }, (_, index) => ({
      key: keys.settings(String(index)),
      value: index,
    }));
    await failure(store.commit({ sets }), "LIMIT_EXCEEDED");
    const large = Array.from({ length: 16 }, (_, index) => ({
      key: keys.settings(String(index)),
      value: textOfBytes(59_000),
    }));
    await failure(store.commit({ sets: large }), "LIMIT_EXCEEDED");
    await store.commit({ sets: sets.slice(0, 980) });
    await store.commit({ deletes: sets.slice(0, 980).map(({ key }) => key) });
  });

  test("Store.generation() counts announced changes only", async (store) => {
    assert.equal(await store.generation(), 0n);
    await store.commit({ sets: [{ key: keys.settings("a"), value: 1 }] });
    await store.commit({ sets: [{ key: keys.settings("a"), value: 2 }], announce: false });
    await store.tryCommit({ checks: [{ key: keys.settings("a"), versionstamp: null }] });
    assert.equal(await store.generation(), 1n);
  });

  test("followGeneration() tells of changes and joins those that come together", async (store) => {
    const stop = new AbortController();
    const seen: bigint[] = [];
    let wake = Promise.withResolvers<void>();
    // All changes come while the first is being handled, however slow the store is.
    const handled = Promise.withResolvers<void>();
    const following = followGeneration(store, async (generation) => {
      seen.push(generation);
      wake.resolve();
      await handled.promise;
    }, { signal: stop.signal, since: 0n });
    await store.commit({ sets: [{ key: keys.settings("a"), value: 0 }] });
    await wake.promise;
    for (let index = 0; index < 20; index++) {
      await store.commit({ sets: [{ key: keys.settings("a"), value: index }] });
    }
    handled.resolve();
    while (seen.at(-1) !== 21n) {
      wake = Promise.withResolvers();
      await wake.promise;
    }
    stop.abort();
    await following;
    assert(seen.length <= 3, `${seen.length} calls for 21 changes`);
    assert.deepEqual(seen, [...new Set(seen)].sort((a, b) => Number(a - b)));
  });

  test("SettingsRepository keeps values by name and shape", async (store) => {
    const settings = new SettingsRepository(store);
    const on: Setting<boolean> = { name: "on", schema: z.boolean() };
    assert.equal(await settings.find(on), undefined);
    const versionstamp = await settings.save(on, true);
    assert.deepEqual(await settings.find(on), { value: true, versionstamp });
    await settings.save(on, false, versionstamp);
    await failure(settings.save(on, true, versionstamp), "CONFLICT");
    await failure(settings.find({ name: "on", schema: z.string() }), "STORAGE_CORRUPT");
    await settings.delete(on);
    assert.equal(await settings.find(on), undefined);
  });

  test("LeasesRepository tells the living from the lapsed by the clock", async (store) => {
    let now = 1_000;
    const leases = new LeasesRepository(store, { ttlMs: 100, now: () => now });
    const holder = { id: "a", pid: 7, host: "here", startedAt: 900 };
    assert.deepEqual(await leases.acquire(holder), {
      ...holder,
      renewedAt: 1_000,
      expiresAt: 1_100,
    });
    await failure(leases.acquire(holder), "CONFLICT");
    now = 1_050;
    const renewed = await leases.renew("a");
    assert.equal(renewed.expiresAt, 1_150);
    now = 1_149;
    assert.deepEqual(await leases.listAlive(), [renewed]);
    assert.deepEqual(await leases.listLapsed(), []);
    assert.equal(await leases.takeOver("a"), false);
    now = 1_150;
    assert.deepEqual(await leases.listAlive(), []);
    assert.deepEqual(await leases.listLapsed(), [renewed]);
    const takers = await Promise.all([1, 2, 3].map(() => leases.takeOver("a")));
    assert.deepEqual(takers.filter(Boolean), [true]);
    await failure(leases.renew("a"), "CONFLICT");
    await leases.acquire(holder);
    await leases.release("a");
    assert.equal(await leases.find("a"), undefined);
    assert.equal(await store.generation(), 0n);
  });

  if (!place.isShared) continue;

  test("Store.open() finds what an earlier store saved", async (store, location) => {
    const value = textOfBytes(1_000_000, 3);
    await store.commit({ sets: [{ key: keys.settings("kept"), value }] });
    await using later = await Store.open({ location });
    assert((await later.read(keys.settings("kept")))?.value === value);
    assert.equal(await later.generation(), 1n);
  });

  test("Store.open() sweeps parts that were abandoned, and no others", async (store, location) => {
    const value = textOfBytes(100_000);
    const owners = [["lost", 0], ["fresh", Date.now()]] as const;
    await store.commit({ sets: [{ key: keys.settings("used"), value }] });
    await store.commit({
      sets: owners.map(([id, at]) => ({
        key: keys.partOwners(id),
        value: { key: keys.settings("used"), count: 1, at },
      })),
    });
    const inAnHour = () => Date.now() + 3_600_000;
    {
      await using _sweeping = await Store.open({ location });
    }
    assert.equal(await setsOfParts(store), 2);
    {
      await using _sweeping = await Store.open({ location, now: inAnHour });
    }
    assert.equal(await setsOfParts(store), 1);
    assert((await store.read(keys.settings("used")))?.value === value);
  });

  test("followGeneration() hears of another store's changes in time", async (store, location) => {
    await using other = await Store.open({ location });
    const stop = new AbortController();
    let heard = Promise.withResolvers<void>();
    const following = followGeneration(store, () => heard.resolve(), {
      signal: stop.signal,
      since: 0n,
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let index = 0; index < 5; index++) {
      await other.commit({ sets: [{ key: keys.settings("a"), value: index }] });
      await heard.promise;
      heard = Promise.withResolvers();
    }
    stop.abort();
    await following;
  });
}
