import assert from "node:assert/strict";
import { join } from "node:path";
import { editFile } from "./files.ts";
import { inFolder } from "./testing/load_servers.ts";

const NOW = new Date("2026-01-31T12:00:00.123Z");

Deno.test("editFile() keeps the old file beside the new one, with its rights", async () => {
  await inFolder({ "mcp.json": "old" }, async (folder) => {
    const file = join(folder, "mcp.json");
    if (Deno.build.os !== "windows") await Deno.chmod(file, 0o640);
    const first = await editFile(file, (text) => `${text} new`, NOW);
    assert.deepEqual(first, { changed: true, backup: `${file}.backup-20260131T120000Z` });
    const second = await editFile(file, (text) => `${text} newer`, NOW);
    assert.equal(second.backup, `${file}.backup-20260131T120000Z-2`);
    assert.equal(await Deno.readTextFile(file), "old new newer");
    assert.equal(await Deno.readTextFile(first.backup!), "old");
    assert.equal(await Deno.readTextFile(second.backup!), "old new");
    if (Deno.build.os !== "windows") assert.equal((await Deno.stat(file)).mode! & 0o777, 0o640);
    assert.equal(Array.from(Deno.readDirSync(folder)).length, 3);
  });
});

Deno.test("editFile() leaves the file alone where nothing changes or the edit fails", async () => {
  await inFolder({ "mcp.json": "old" }, async (folder) => {
    const file = join(folder, "mcp.json");
    assert.deepEqual(await editFile(file, (text) => text), { changed: false });
    await assert.rejects(
      editFile(file, () => {
        throw new Error("broken");
      }),
      /broken/,
    );
    await assert.rejects(
      editFile(file, (text) => {
        Deno.writeTextFileSync(file, "of another program");
        return `${text} new`;
      }),
      { code: "CONFLICT" },
    );
    assert.equal(await Deno.readTextFile(file), "of another program");
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assert.deepEqual(names.filter((name) => !name.includes(".backup-")), ["mcp.json"]);
  });
});

Deno.test("editFile() makes a file that is not there, with its folders", async () => {
  await inFolder({}, async (folder) => {
    const file = join(folder, "a", "b", "mcp.json");
    assert.deepEqual(await editFile(file, () => "new"), { changed: true });
    assert.equal(await Deno.readTextFile(file), "new");
  });
});

Deno.test({
  name: "editFile() writes through a link",
  ignore: Deno.build.os === "windows",
  async fn() {
    await inFolder({ "real/mcp.json": "old" }, async (folder) => {
      const link = join(folder, "mcp.json");
      await Deno.symlink(join(folder, "real", "mcp.json"), link);
      await editFile(link, () => "new");
      assert.ok((await Deno.lstat(link)).isSymlink);
      assert.equal(await Deno.readTextFile(join(folder, "real", "mcp.json")), "new");
    });
  },
});
