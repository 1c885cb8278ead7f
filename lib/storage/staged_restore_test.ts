import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { applyStagedRestore, stagedFile, StagedRestore } from "./staged_restore.ts";
import { backupStore, verifyBackup } from "./backup.ts";
import { keys } from "./keys.ts";
import { LeasesRepository } from "./leases_repository.ts";
import { Store } from "./store.ts";
import { withFile } from "./testing/places.ts";

const NAME = keys.settings("name");

async function save(location: string, value: unknown): Promise<void> {
  await using store = await Store.open({ location });
  await store.commit({ sets: [{ key: NAME, value }] });
}

async function load(location: string): Promise<unknown> {
  await using store = await Store.open({ location });
  return (await store.read(NAME))?.value;
}

/** A backup of a store with one setting and one toolset. */
async function makeBackup(path: string): Promise<Uint8Array> {
  await using store = await Store.open({ location: ":memory:" });
  await store.commit({
    sets: [{ key: NAME, value: "old" }, { key: keys.toolsets("dev"), value: {} }],
  });
  const { file } = await backupStore(store, `${path}.made`);
  const bytes = await Deno.readFile(file);
  await Deno.remove(file);
  return bytes;
}

/** A backup of a store with one setting. */
async function backupStoreOf(path: string, value: string) {
  await using store = await Store.open({ location: ":memory:" });
  await store.commit({ sets: [{ key: NAME, value }] });
  return await backupStore(store, `${path}.other`);
}

const stream = (bytes: Uint8Array) => ReadableStream.from([bytes]);
const namesBeside = async (path: string) =>
  (await Array.fromAsync(Deno.readDir(dirname(path)), ({ name }) => name)).sort();
const apply = (path: string, isAlive = () => Promise.resolve(true)) =>
  applyStagedRestore(path, { isAlive, onWarning: assert.fail });

Deno.test("StagedRestore.check() says what a backup holds, and changes nothing yet", () =>
  withFile(async (path) => {
    await save(path, "present");
    const staged = new StagedRestore(path);
    await staged.check(stream(await makeBackup(path)), "my.backup");
    const { checked, staged: next } = await staged.find();
    assert.deepEqual([checked?.entries, checked?.counts], [2, { settings: 1, toolsets: 1 }]);
    assert.equal(next, undefined);
    assert.equal(await apply(path), undefined);
    assert.equal(await load(path), "present");
  }));

Deno.test("StagedRestore.check() leaves nothing of a broken or foreign file", () =>
  withFile(async (path) => {
    await save(path, "present");
    const before = await namesBeside(path);
    const staged = new StagedRestore(path);
    const whole = await makeBackup(path);
    const foreign = new TextEncoder().encode("hello");
    const cut = whole.slice(0, whole.length - 20);
    for (const wrong of [foreign, cut, new Uint8Array()]) {
      await assert.rejects(
        staged.check(stream(wrong), "my.backup"),
        /Cannot restore "my\.backup": /,
      );
    }
    const newer = new TextDecoder().decode(whole).replace(
      /"schemaVersion":\d+/,
      '"schemaVersion":99',
    );
    await assert.rejects(staged.check(stream(new TextEncoder().encode(newer)), "my.backup"));
    assert.deepEqual(await namesBeside(path), before);
    assert.deepEqual(await staged.find(), {});
  }));

Deno.test("StagedRestore.confirm() has it put in place at the next start, and the old one kept", () =>
  withFile(async (path) => {
    await save(path, "present");
    const staged = new StagedRestore(path);
    await staged.check(stream(await makeBackup(path)), "my.backup");
    await assert.rejects(staged.confirm("another"), { code: "CONFLICT" });
    await staged.confirm((await staged.find()).checked?.id ?? "");
    assert.deepEqual(Object.keys(await staged.find()), ["staged"]);
    assert.equal(await load(path), "present");

    const applied = await apply(path);
    assert.ok(applied?.ok);
    assert.equal(applied.entries, 2);
    assert.equal(await load(path), "old");
    assert.deepEqual(await staged.find(), {});
    assert.equal(await apply(path), undefined);

    // What was there before comes back in the same way.
    assert.ok((await verifyBackup(applied.before ?? "")).entries > 0);
    await staged.check((await Deno.open(applied.before ?? "")).readable, "before");
    await staged.confirm((await staged.find()).checked?.id ?? "");
    await apply(path);
    assert.equal(await load(path), "present");
  }));

Deno.test("StagedRestore.discard() takes it back before the next start", () =>
  withFile(async (path) => {
    await save(path, "present");
    const staged = new StagedRestore(path);
    await staged.check(stream(await makeBackup(path)), "my.backup");
    await staged.confirm((await staged.find()).checked?.id ?? "");
    await staged.discard("staged");
    await staged.discard("staged");
    assert.deepEqual([await staged.find(), await apply(path)], [{}, undefined]);
    assert.equal(await load(path), "present");
  }));

/** A backup that waits for the next start, of a store that a gateway has a lease on. */
async function stageBesideGateway(path: string): Promise<StagedRestore> {
  await save(path, "present");
  const staged = new StagedRestore(path);
  await staged.check(stream(await makeBackup(path)), "my.backup");
  await staged.confirm((await staged.find()).checked?.id ?? "");
  await using store = await Store.open({ location: path });
  await new LeasesRepository(store).acquire({ id: "a", pid: 1, host: "h", startedAt: 0 });
  return staged;
}

Deno.test("applyStagedRestore() waits while another gateway uses the store", () =>
  withFile(async (path) => {
    const staged = await stageBesideGateway(path);
    const refused = await apply(path);
    assert.ok(refused && !refused.ok);
    assert.match(refused.problem, /a gateway is using it/);
    assert.equal(await load(path), "present");
    assert.ok((await staged.find()).staged);
    const names = await namesBeside(path);
    assert.ok(!names.some((name) => name.endsWith(".backup")), names.join());
    // One whose process is gone does not count.
    assert.ok((await apply(path, () => Promise.resolve(false)))?.ok);
    assert.equal(await load(path), "old");
  }));

Deno.test("applyStagedRestore() leaves the store alone where what waits is broken", () =>
  withFile(async (path) => {
    await save(path, "present");
    await Deno.writeTextFile(join(dirname(path), `${path.split("/").at(-1)}.restore-staged`), "no");
    const refused = await apply(path);
    assert.ok(refused && !refused.ok);
    assert.equal(await load(path), "present");
  }));

Deno.test("applyStagedRestore() keeps what it has done where the backup cannot be removed", () =>
  withFile(async (path) => {
    await stageBesideGateway(path);
    const warnings: string[] = [];
    let asked = 0;
    const applied = await applyStagedRestore(path, {
      async isAlive() {
        // For the last time right before the swap, when the backup was read.
        if (++asked === 2) {
          await Deno.remove(stagedFile(path));
          await Deno.mkdir(join(stagedFile(path), "full"), { recursive: true });
        }
        return false;
      },
      onWarning: (message) => void warnings.push(message),
    });
    assert.ok(applied?.ok);
    assert.match(warnings.join(), /the next start will restore it again/);
    assert.ok((await verifyBackup(applied.before ?? "")).entries > 0);
    assert.equal(await load(path), "old");
  }));

Deno.test("StagedRestore.confirm() takes what somebody saw, and none that comes in between", () =>
  withFile(async (path) => {
    await save(path, "present");
    const staged = new StagedRestore(path);
    await staged.check(stream(await makeBackup(path)), "seen.backup");
    const { checked } = await staged.find();
    const bytes = await Deno.readFile((await backupStoreOf(path, "other")).file);
    const find = staged.find.bind(staged);
    let checking: Promise<void> | undefined;
    staged.find = async () => {
      const found = await find();
      checking ??= staged.check(stream(bytes), "unseen.backup");
      // It would be done by then, were it not made to wait.
      await Promise.race([checking, new Promise((resolve) => setTimeout(resolve, 500))]);
      return found;
    };
    await staged.confirm(checked?.id ?? "");
    await checking;
    const after = await find();
    assert.deepEqual([after.staged?.entries, after.checked?.entries], [2, 1]);
  }));
