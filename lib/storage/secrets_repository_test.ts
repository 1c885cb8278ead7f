import assert from "node:assert/strict";
import { keys } from "./keys.ts";
import { AesBox } from "./secret_box.ts";
import { SecretsRepository } from "./secrets_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";

async function withSecrets(
  work: (secrets: SecretsRepository, store: Store) => Promise<void>,
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  await work(new SecretsRepository(store, () => AesBox.of(new Uint8Array(32).fill(1))), store);
}

Deno.test("SecretsRepository.open() gives what set() was given, and the store holds it sealed", () =>
  withSecrets(async (secrets, store) => {
    await secrets.set("TOKEN", "hunter2-canary", 5);
    assert.equal((await secrets.open("TOKEN"))?.value, "hunter2-canary");
    assert.equal(await secrets.open("OTHER"), undefined);
    const kept = JSON.stringify((await store.read(keys.secret("TOKEN")))?.value);
    assert.doesNotMatch(kept, /canary/);
    const [outline] = await secrets.outlines();
    assert.deepEqual([outline?.name, outline?.setAt], ["TOKEN", 5]);
    await secrets.set("TOKEN", "other", 6);
    const [changed] = await secrets.outlines();
    assert.notEqual(changed?.versionstamp, outline?.versionstamp);
    assert.equal(await secrets.delete("TOKEN"), true);
    assert.equal(await secrets.delete("TOKEN"), false);
    assert.deepEqual(await secrets.outlines(), []);
  }));

Deno.test("SecretsRepository.set() announces, so that other gateways take it up", () =>
  withSecrets(async (secrets, store) => {
    const before = await store.generation();
    await secrets.set("TOKEN", "value");
    assert.equal(await store.generation(), before + 1n);
    await secrets.delete("TOKEN");
    assert.equal(await store.generation(), before + 2n);
  }));

Deno.test("SecretsRepository.set() refuses names and values, and tells nothing of the value", () =>
  withSecrets(async (secrets) => {
    const cases: [string, string, RegExp][] = [
      ["1A", "canary", /A secret's name has/],
      ["a-b", "canary", /A secret's name has/],
      ["A", "", /has no value/],
      ["A", "canary\0", /zero byte/],
      ["A", "canary".repeat(6_000), /36000 bytes, and at most 32768/],
    ];
    for (const [name, value, words] of cases) {
      const error = await failure(secrets.set(name, value), "INVALID_ARGUMENTS");
      assert.match(error.message, words);
      assert.doesNotMatch(JSON.stringify(error.toBody()), /canary/);
    }
    await secrets.set("A", "ż".repeat(16_384));
  }));

Deno.test("SecretsRepository.open() refuses a value that was moved to another name", () =>
  withSecrets(async (secrets, store) => {
    await secrets.set("A", "value");
    const stored = (await store.read(keys.secret("A")))?.value;
    assert.ok(stored !== null && typeof stored === "object");
    await store.commit({ sets: [{ key: keys.secret("B"), value: { ...stored, name: "B" } }] });
    const error = await failure(secrets.open("B"), "SECRET_UNREADABLE");
    assert.match(error.message, /belongs to another place$/);
  }));
