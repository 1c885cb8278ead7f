import assert from "node:assert/strict";
import { join } from "@std/path";
import { backupStore } from "../storage/backup.ts";
import { StagedRestore } from "../storage/staged_restore.ts";
import { Store } from "../storage/store.ts";
import type { CommandInput } from "./command.ts";
import { restore } from "./backup.ts";

Deno.test("restore forgets a backup that waited for the next start", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    const kv = join(folder, "data.kv");
    const file = join(folder, "made.backup");
    {
      await using store = await Store.open({ location: ":memory:" });
      await backupStore(store, file);
    }
    const staged = new StagedRestore(kv);
    await staged.check((await Deno.open(file)).readable, "made.backup");
    await staged.confirm((await staged.find()).checked?.id ?? "");
    const platform = { canWrite: true };
    const input = {
      options: { kv, dataDir: folder },
      platform,
      positionals: [file],
      flags: new Map(),
    };
    await restore.run(input as unknown as CommandInput);
    assert.deepEqual(await staged.find(), {});
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
