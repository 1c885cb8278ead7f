import assert from "node:assert/strict";
import { join } from "@std/path";
import { keys } from "./keys.ts";
import { AesBox } from "./sealing.ts";
import { gatewayIdOf, SecretsRepository, signingSecret } from "./secrets_repository.ts";
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
    const kept = JSON.stringify((await store.read(keys.secrets("TOKEN")))?.value);
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
      ["1A", "canary", /A secret name must have/],
      ["a-b", "canary", /A secret name must have/],
      ["A", "", /value is empty/],
      ["A", "canary\0", /null byte/],
      ["A", "canary".repeat(6_000), /36000 bytes, and the limit is 32768/],
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
    const stored = (await store.read(keys.secrets("A")))?.value;
    assert.ok(stored !== null && typeof stored === "object");
    await store.commit({ sets: [{ key: keys.secrets("B"), value: { ...stored, name: "B" } }] });
    const error = await failure(secrets.open("B"), "SECRET_UNREADABLE");
    assert.match(error.message, /copied from another record$/);
  }));

Deno.test("signingSecret() is one for all stores on a file, whoever comes first, and stays", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const location = join(folder, "data.kv");
    let secret: string;
    {
      await using one = await Store.open({ location });
      await using other = await Store.open({ location });
      const racing = [one, other, one, other, one, other].map((store) => signingSecret(store));
      const found = new Set((await Promise.all(racing)).map((bytes) => bytes.toHex()));
      assert.equal(found.size, 1);
      secret = [...found][0]!;
      assert.match(secret, /^[0-9a-f]{64}$/);
    }
    await using later = await Store.open({ location });
    assert.equal((await signingSecret(later)).toHex(), secret);
    assert.equal(await gatewayIdOf(later), await gatewayIdOf(later));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("signingSecret() is another one for another store", async () => {
  await using one = await Store.open({ location: ":memory:" });
  await using other = await Store.open({ location: ":memory:" });
  assert.notEqual((await signingSecret(one)).toHex(), (await signingSecret(other)).toHex());
  assert.notEqual(await gatewayIdOf(one), await gatewayIdOf(other));
});
