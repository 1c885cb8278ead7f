import assert from "node:assert/strict";
import { keys } from "./keys.ts";
import { type Login, LoginsRepository } from "./logins_repository.ts";
import { AesBox } from "./sealing.ts";
import { Store } from "./store.ts";

function login(change: Partial<Login> = {}): Login {
  return {
    server: "files",
    addressMark: "mark",
    resource: "https://files.example/canary/mcp",
    issuer: "https://login.example",
    clientId: "client",
    clientSecret: "canary-client",
    clientAuth: "none",
    clientOrigin: "registered",
    tokenEndpoint: "https://login.example/token",
    scopes: ["a"],
    isAdded: true,
    id: "one",
    loggedInAt: 1,
    issuedAt: 1,
    expiresAt: 2,
    accessToken: "canary-access",
    refreshToken: "canary-refresh",
    ...change,
  };
}

async function withRepository(
  work: (repository: LoginsRepository, store: Store) => Promise<void>,
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  const box = await AesBox.of(crypto.getRandomValues(new Uint8Array(32)));
  await work(new LoginsRepository(store, () => Promise.resolve(box)), store);
}

Deno.test("LoginsRepository keeps a login whole, and its secrets sealed", async () => {
  await withRepository(async (repository, store) => {
    await repository.replace(login());
    assert.deepEqual((await repository.find("files"))?.login, login());
    assert.doesNotMatch(JSON.stringify(await store.read(keys.logins("files"))), /canary/);
    const [outline] = await repository.outlines();
    assert.equal(outline?.hasTokens, true);
    assert.doesNotMatch(JSON.stringify(outline), /canary|sealed/);
    await repository.delete("files");
    assert.equal(await repository.find("files"), undefined);
    assert.deepEqual(await repository.outlines(), []);
  });
});

Deno.test("LoginsRepository.find() opens nothing that was moved from another server's place", async () => {
  await withRepository(async (repository, store) => {
    await repository.replace(login());
    const record = await store.read(keys.logins("files"));
    const value = { ...Object(record?.value), server: "other" };
    await store.commit({ sets: [{ key: keys.logins("other"), value }] });
    await assert.rejects(repository.find("other"), { code: "SECRET_UNREADABLE" });
  });
});

Deno.test("LoginsRepository.claim() gives the right to renew to one at a time", async () => {
  await withRepository(async (repository) => {
    await repository.replace(login());
    const asked = ["a", "b", "c"].map((by) => repository.claim("files", by, 60_000));
    const [claim, ...others] = (await Promise.all(asked)).filter((one) => one !== undefined);
    assert.ok(claim);
    assert.deepEqual(others, []);
    assert.equal(await repository.claim("files", "d", 60_000), undefined, "it is held");
    await repository.release(claim);
    const lapsed = await repository.claim("files", "b", -1);
    assert.ok(lapsed);
    assert.ok(await repository.claim("files", "c", 60_000), "one that has lapsed is taken over");
  });
});

Deno.test("LoginsRepository.saveRenewed() loses to a login that was made meanwhile", async () => {
  await withRepository(async (repository) => {
    await repository.replace(login());
    const found = await repository.find("files");
    const claim = await repository.claim("files", "a", 60_000);
    assert.ok(found && claim);
    await repository.replace(login({ id: "two" }));
    const renewed = login({ accessToken: "late" });
    assert.equal(await repository.saveRenewed(renewed, found.versionstamp, claim), false);
    assert.equal((await repository.find("files"))?.login.id, "two");
  });
});
