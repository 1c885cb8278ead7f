import assert from "node:assert/strict";
import { join } from "@std/path";
import { backupStore } from "../../../../lib/storage/backup.ts";
import { Store } from "../../../../lib/storage/store.ts";
import { changeRestore, restorePage, settingsData, takeBackup } from "./data.ts";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { keys } from "../../../../lib/storage/keys.ts";
import { AesBox } from "../../../../lib/storage/sealing.ts";
import { SecretsRepository } from "../../../../lib/storage/secrets_repository.ts";
import { StagedRestore } from "../../../../lib/storage/staged_restore.ts";
import { SecretsAdmin } from "../../../../lib/operations/secrets_admin.ts";

Deno.test("settingsData() tells where the store is, its size and how long things are kept", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await using store = await Store.open({ location: join(folder, "data.kv") });
    const data = await settingsData({ ...stubGateway(), store }, true);
    assert.deepEqual([data.kind, data.place], ["file", join(folder, "data.kv")]);
    assert.ok((data.bytes ?? 0) > 0);
    assert.match(data.retention[0]?.kept ?? "", /\d+ days/);
    assert.equal(data.restore, undefined);
    const restore = { applied: { ok: false as const, problem: "in use" } };
    assert.equal(
      (await settingsData({ ...stubGateway(), store, restore }, true)).restore,
      "failed",
    );
    assert.equal((await settingsData({ ...stubGateway(), store }, false)).backup, "elsewhere");
    assert.equal(data.backup, "here");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function withGateway(
  test: (
    gateway: {
      store: Store;
      restore: { staged: StagedRestore };
      secrets(): Promise<SecretsAdmin>;
    },
    backup: File,
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await using store = await Store.open({ location: join(folder, "data.kv") });
    await store.commit({ sets: [{ key: keys.toolsets("one"), value: {} }] });
    const other = await AesBox.of(new Uint8Array(32).fill(1));
    await new SecretsRepository(store, () => Promise.resolve(other)).set("TOKEN", "value");
    const { file } = await backupStore(store, join(folder, "made"));
    const backup = new File([await Deno.readFile(file)], "my.backup");
    await store.commit({ sets: [{ key: keys.toolsets("two"), value: {} }] });
    const box = () => AesBox.of(new Uint8Array(32));
    const admin = new SecretsAdmin({
      repository: new SecretsRepository(store, box),
      keyId: async () => (await box()).keyId,
      servers: () => Promise.resolve([]),
    });
    const restore = { staged: new StagedRestore(join(folder, "data.kv")) };
    await test({ store, restore, secrets: () => Promise.resolve(admin) }, backup);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("restorePage() compares a checked backup with what is here", () =>
  withGateway(async (gateway, backup) => {
    assert.deepEqual(Object.keys(await restorePage(gateway, true)), ["possible", "place"]);
    await takeBackup(gateway, backup, true);
    const { checked } = await restorePage(gateway, true);
    assert.deepEqual(checked?.rows, [{ what: "Toolsets", inBackup: 1, here: 2 }]);
    assert.deepEqual([checked?.others, checked?.backup.entries], [1, 2]);
    assert.match(checked?.sealed[0] ?? "", /set these secrets again: TOKEN$/);
  }));

Deno.test("changeRestore() confirms what was seen, and takes it back", () =>
  withGateway(async (gateway, backup) => {
    const change = (fields: Record<string, string>) =>
      changeRestore(gateway, new URLSearchParams(fields), true);
    await takeBackup(gateway, backup, true);
    await assert.rejects(change({ step: "confirm", id: "x" }), { code: "CONFLICT" });
    const id = (await restorePage(gateway, true)).checked?.backup.id ?? "";
    await change({ step: "confirm", id });
    assert.equal((await restorePage(gateway, true)).staged?.entries, 2);
    await change({ step: "undo" });
    assert.equal((await restorePage(gateway, true)).staged, undefined);
    await takeBackup(gateway, backup, true);
    await change({ step: "discard" });
    assert.equal((await restorePage(gateway, true)).checked, undefined);
    await assert.rejects(change({ step: "other" }), { code: "INVALID_ARGUMENTS" });
  }));

Deno.test("takeBackup() is for this machine's own user, and for a store in a file", () =>
  withGateway(async (gateway, backup) => {
    await assert.rejects(takeBackup(gateway, backup, false), { code: "ACCESS_DENIED" });
    assert.deepEqual(await restorePage(gateway, false), { possible: "elsewhere" });
    const elsewhere = { ...gateway, restore: {} };
    await assert.rejects(takeBackup(elsewhere, backup, true), /not a file on this machine/);
    assert.deepEqual(await restorePage(elsewhere, true), { possible: "no-file" });
    assert.equal((await restorePage(gateway, true)).checked, undefined);
  }));
