import assert from "node:assert/strict";
import type { ServerSpec } from "../core/server.ts";
import { keys } from "./keys.ts";
import { AesBox } from "./sealing.ts";
import { AddedServer, ServersRepository } from "./servers_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { withFile } from "./testing/places.ts";

const PROGRAM: ServerSpec = {
  type: "stdio",
  command: "run",
  args: ["--api-key=canary-arg", "--verbose", "--token=${secret:T}"],
  env: { TOKEN: "canary-env", FROM: "${secret:T}", MIXED: "canary-mixed ${secret:T}", EMPTY: "" },
};
const REMOTE: ServerSpec = {
  type: "http",
  url: "https://user:canary-pass@example.com/mcp?api_key=canary-query",
  headers: { Authorization: "Bearer canary-header", "X-From": "Bearer ${secret:T}" },
};

async function boxOf(byte: number): Promise<AesBox> {
  return await AesBox.of(new Uint8Array(32).fill(byte));
}

async function withServers(
  work: (parts: { store: Store; servers: ServersRepository }) => Promise<void>,
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  await work({ store, servers: new ServersRepository(store, () => boxOf(1)) });
}

async function textOf(store: Store, name: string): Promise<string> {
  return JSON.stringify((await store.read(keys.servers(name)))?.value);
}

function added(name: string, spec: ServerSpec): AddedServer {
  return { name, spec, addedAt: 1 };
}

Deno.test("ServersRepository.save() keeps no secret as it is, and references as they are", () =>
  withServers(async ({ store, servers }) => {
    for (const [name, spec] of [["program", PROGRAM], ["remote", REMOTE]] as const) {
      const versionstamp = await servers.save(added(name, spec), null);
      const kept = await textOf(store, name);
      assert.doesNotMatch(kept, /canary/);
      assert.match(kept, /\$\{secret:T\}/);
      assert.deepEqual(await servers.resolve(name), { value: added(name, spec), versionstamp });
    }
    assert.match(await textOf(store, "remote"), /https:\/\/example\.com\/#qm1\./);
    const listed = await Array.fromAsync(servers.list());
    assert.deepEqual(listed.map(({ value }) => value.spec), [PROGRAM, REMOTE]);
  }));

Deno.test("ServersRepository keeps an entry without secrets as older versions do", () =>
  withServers(async ({ store }) => {
    const servers = new ServersRepository(store);
    const plain = added("plain", { type: "stdio", command: "run", args: ["-v"], env: {} });
    await servers.save(plain, null);
    assert.deepEqual((await store.read(keys.servers("plain")))?.value, plain);
  }));

Deno.test("ServersRepository marks a sealed entry, so that an older version does not use it", () =>
  withServers(async ({ store, servers }) => {
    await servers.save(added("remote", REMOTE), null);
    const kept = (await store.read(keys.servers("remote")))?.value;
    assert.equal(AddedServer.safeParse(kept).success, false);
  }));

Deno.test("MIGRATIONS keep an older version from a store that may hold sealed entries", () =>
  withFile(async (path) => {
    await (await Store.open({ location: path, migrations: [] }))[Symbol.asyncDispose]();
    await (await Store.open({ location: path }))[Symbol.asyncDispose]();
    const error = await failure(Store.open({ location: path, migrations: [] }), "STORAGE_NEWER");
    assert.match(
      error.message,
      /has schema version 2; this version of Quartermaster supports .* up to 1$/,
    );
  }));

Deno.test("ServersRepository gives a reason where the key is another one, and destroys nothing", () =>
  withServers(async ({ store, servers }) => {
    await servers.save(added("program", PROGRAM), null);
    const elsewhere = new ServersRepository(store, () => boxOf(2));
    const found = await elsewhere.resolve("program");
    assert.match(found.problem ?? "", /is unreadable: .*it was encrypted with key/);
    // A change of something else saves what could not be opened as it was.
    const spec = { ...found.value.spec, disabled: true };
    await elsewhere.save({ ...found.value, spec }, found.versionstamp);
    const back = await servers.resolve("program");
    assert.deepEqual(back.value.spec, { ...PROGRAM, disabled: true });
    assert.equal(back.problem, undefined);
  }));

Deno.test("ServersRepository.find() refuses a value that was moved to another place", () =>
  withServers(async ({ store, servers }) => {
    await servers.save(added("program", PROGRAM), null);
    await servers.save(added("other", { ...PROGRAM, env: { SHOWN: "x" } }), null);
    const from = JSON.parse(await textOf(store, "program"));
    const to = JSON.parse(await textOf(store, "other"));
    to.spec.env.SHOWN = from.spec.env.TOKEN;
    await store.commit({ sets: [{ key: keys.servers("other"), value: to }] });
    assert.match((await servers.find("other"))?.problem ?? "", /copied from another record$/);
  }));

Deno.test("ServersRepository.save() refuses a secret where there is no key", () =>
  withServers(async ({ store }) => {
    const servers = new ServersRepository(store);
    await failure(servers.save(added("remote", REMOTE), null), "SECRET_UNREADABLE");
    assert.equal(await store.read(keys.servers("remote")), undefined);
  }));

Deno.test("ServersRepository.sealPlain() seals what was kept as it is, once", () =>
  withServers(async ({ store, servers }) => {
    const plain = [added("program", PROGRAM), added("remote", REMOTE)];
    await store.commit({
      sets: plain.map((server) => ({ key: keys.servers(server.name), value: server })),
    });
    const before = await Array.fromAsync(servers.list());
    assert.deepEqual(before.map(({ value }) => value), plain);
    assert.equal(await servers.sealPlain(), 2);
    assert.equal(await servers.sealPlain(), 0);
    assert.doesNotMatch(await textOf(store, "program") + await textOf(store, "remote"), /canary/);
    const after = await Array.fromAsync(servers.list());
    assert.deepEqual(after.map(({ value }) => value), plain);
  }));
