import assert from "node:assert/strict";
import { join } from "@std/path";
import { runFolders } from "./claude_environment.ts";

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("RunFolders.sweep() removes what gateways of its store left, and nothing else", async () => {
  const root = await Deno.makeTempDir();
  try {
    const of = (leaseId: string, store = "here") => runFolders({ store, leaseId, root });
    const dead = await of("dead").make();
    await Deno.mkdir(join(dead, "home"));
    const kept = [
      await of("alive").make(),
      await of("own").make(),
      await of("dead", "elsewhere").make(),
      await Deno.makeTempDir({ dir: root, prefix: "run_" }),
    ];
    const broken = await Deno.makeTempDir({ dir: root, prefix: "run_" });
    await Deno.writeTextFile(join(broken, "owner.json"), "{");
    const swept = await of("own").sweep((id) => Promise.resolve(id !== "dead"));
    assert.equal(swept, 1);
    assert.equal(await exists(dead), false);
    for (const folder of [...kept, broken]) assert.ok(await exists(folder), folder);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
