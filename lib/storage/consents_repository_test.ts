import assert from "node:assert/strict";
import { type ConsentRequest, ConsentsRepository } from "./consents_repository.ts";
import { keys, UNPORTABLE_ROOTS } from "./keys.ts";
import { AesBox } from "./sealing.ts";
import { Store } from "./store.ts";

function request(id: string, times: { askedAt: number; expiresAt: number }): ConsentRequest {
  return {
    id: id.padStart(16, "0"),
    wish: "add",
    name: "files",
    spec: {
      type: "stdio",
      command: "run",
      args: ["--token=canary-arg"],
      env: { KEY: "canary-env" },
    },
    origin: { via: "mcp", principal: "token:a" },
    ...times,
  };
}

async function withConsents(
  work: (
    consents: ConsentsRepository,
    store: Store,
    useKey: (byte: number) => void,
  ) => Promise<void>,
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  let byte = 1;
  const box = () => AesBox.of(new Uint8Array(32).fill(byte));
  await work(new ConsentsRepository(store, box), store, (next) => byte = next);
}

Deno.test("ConsentsRepository keeps a request with its secrets sealed, and in no backup", () =>
  withConsents(async (consents, store) => {
    const wanted = request("a", { askedAt: 1, expiresAt: 10 });
    await consents.add(wanted, 1);
    assert.deepEqual(await consents.find(wanted.id, 2), { request: wanted });
    const kept = JSON.stringify((await store.read(keys.consents(wanted.id)))?.value);
    assert.doesNotMatch(kept, /canary/);
    assert.ok(UNPORTABLE_ROOTS.has(keys.consents()[0]!));
  }));

Deno.test("ConsentsRepository forgets what has run out, and gives the oldest first", () =>
  withConsents(async (consents, store) => {
    await consents.add(request("c", { askedAt: 1, expiresAt: 10 }), 1);
    await consents.add(request("b", { askedAt: 2, expiresAt: 20 }), 2);
    const ids = async (now: number) =>
      (await consents.list(now)).map(({ request }) => request.id.slice(-1)).join("");
    assert.equal(await ids(3), "cb");
    assert.equal(await ids(10), "b");
    assert.equal(await consents.count(10), 1);
    assert.equal(await consents.find("c".padStart(16, "0"), 10), undefined);
    await consents.add(request("a", { askedAt: 11, expiresAt: 30 }), 11);
    assert.equal(await store.read(keys.consents("c".padStart(16, "0"))), undefined);
    await consents.delete("b".padStart(16, "0"));
    assert.equal(await ids(12), "a");
  }));

Deno.test("ConsentsRepository says of what it cannot open that it cannot", () =>
  withConsents(async (consents, _store, useKey) => {
    const wanted = request("a", { askedAt: 1, expiresAt: 10 });
    await consents.add(wanted, 1);
    useKey(2);
    assert.match((await consents.find(wanted.id, 2))?.problem ?? "", /is unreadable/);
  }));
