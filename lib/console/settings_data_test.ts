import assert from "node:assert/strict";
import { join } from "@std/path";
import { verifyBackup } from "../storage/backup_file.ts";
import { Store } from "../storage/store.ts";
import { backupResponse, settingsData } from "./settings_data.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

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
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("backupResponse() gives a whole backup to keep, and leaves nothing behind", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await store.commit({ sets: [{ key: ["settings", "x"], value: true }], announce: false });
  const response = await backupResponse({ ...stubGateway(), store }, true, new Date(0));
  assert.match(
    response.headers.get("content-disposition") ?? "",
    /filename="quartermaster-1970-01-01\.backup"/,
  );
  const file = await Deno.makeTempFile({ prefix: "quartermaster_" });
  try {
    await Deno.writeFile(file, new Uint8Array(await response.arrayBuffer()));
    assert.ok((await verifyBackup(file)).entries >= 1);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("backupResponse() says what to do where there is no disk", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const platform = { name: "deploy", canSpawn: false, canWrite: false } as const;
  await assert.rejects(backupResponse({ store, platform }, true), /this platform has no disk/);
});

Deno.test("backupResponse() gives nothing to whoever asks from elsewhere, nor is it offered", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const gateway = { ...stubGateway(), store };
  await assert.rejects(backupResponse(gateway, false), { code: "ACCESS_DENIED" });
  assert.equal((await settingsData(gateway, false)).backup, "elsewhere");
  assert.equal((await settingsData(gateway, true)).backup, "here");
});
