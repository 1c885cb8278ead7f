import assert from "node:assert/strict";
import { join } from "@std/path";
import { changeFolder } from "./change_folder.ts";

const TEMPORARY = Deno.makeTempDirSync({ prefix: "quartermaster_" });
addEventListener("unload", () => Deno.removeSync(TEMPORARY, { recursive: true }));

for (const isPermitted of [true, false]) {
  const who = isPermitted ? "itself" : "with a process of its own where it is not permitted to";
  Deno.test({
    name: `changeFolder() writes and removes files ${who}`,
    permissions: { read: true, run: true, write: isPermitted ? [TEMPORARY] : [] },
    async fn() {
      const folder = join(TEMPORARY, "a folder", `${isPermitted}`);
      await changeFolder(folder, { "a.json": '{"a":"`${1}`"}', b: "" });
      await changeFolder(folder, { b: "second" });
      assert.equal(await Deno.readTextFile(join(folder, "a.json")), '{"a":"`${1}`"}');
      assert.equal(await Deno.readTextFile(join(folder, "b")), "second");
      const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
      assert.deepEqual(names.sort(), ["a.json", "b"]);
      await changeFolder(folder, "removed");
      await assert.rejects(Deno.stat(folder), Deno.errors.NotFound);
      await changeFolder(folder, "removed");
      // Not even root can.
      await assert.rejects(changeFolder("/proc/none", { a: "" }));
    },
  });
}
