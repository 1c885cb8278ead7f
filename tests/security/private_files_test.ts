import assert from "node:assert/strict";
import { join } from "@std/path";
import { startGateway, until } from "../gateway.ts";

/** Below a folder: what others than its owner may do anything with. */
async function openToOthers(folder: string): Promise<string[]> {
  const open: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    const { mode } = await Deno.lstat(path);
    if (((mode ?? 0) & 0o077) !== 0) open.push(path);
    if (isDirectory) open.push(...await openToOthers(path));
  }
  return open;
}

Deno.test("the store, its bell file and all else in the data folder are for its owner only", async () => {
  const parent = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const dataDir = join(parent, "data");
  const umask = Deno.umask(0);
  try {
    await using gateway = await startGateway([], { dataDir, cwd: parent });
    const saved = await fetch(`${gateway.url}/api/toolsets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "weather", tools: ["*"] }),
    });
    await saved.text();
    const bell = join(dataDir, "quartermaster.kv-bell", "rung");
    await until(() => Deno.stat(bell).then(() => true, () => undefined));
    assert.equal(((await Deno.stat(dataDir)).mode ?? 0) & 0o777, 0o700);
    assert.deepEqual(await openToOthers(dataDir), []);
  } finally {
    Deno.umask(umask);
    await Deno.remove(parent, { recursive: true });
  }
});
