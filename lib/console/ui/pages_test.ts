import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import fc from "../../../tests/fast_check.ts";
import { localPath, pathParts, toolPath } from "./pages.ts";

Deno.test("toolPath() leads back to the same names, whatever they are", () => {
  const name = fc.string({ minLength: 1, unit: "grapheme" }).filter((name) =>
    !/^\.{1,2}$/.test(name)
  );
  fc.assert(fc.property(name, (tool) => {
    const { pathname } = new URL(toolPath("server", tool), "http://x");
    assert.deepEqual(pathParts(pathname), ["tools", "server", tool]);
  }));
});

Deno.test("toolPath() finds tools called . and .. by a search", () => {
  assert.equal(toolPath("s", ".."), "/tools?server=s&q=..");
});

Deno.test("pathParts() knows a path that is not well formed", () => {
  assert.equal(pathParts("/servers/%E0%A4%A"), undefined);
});

Deno.test("no page of the console takes the address of a thing with the same name", async () => {
  const taken: string[] = [];
  let folders = 0;
  const look = async (folder: string) => {
    const names: string[] = [];
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      names.push(name);
      if (isDirectory) await look(join(folder, name));
    }
    if (!names.some((name) => name.startsWith("["))) return;
    folders++;
    taken.push(...names.filter((name) => !/^(\[|~|_|\(|index\.)/.test(name)));
  };
  for (const page of ["servers", "tools", "toolsets", "optimization", "activity"]) {
    await look(fromFileUrl(new URL(`../../../routes/(console)/${page}`, import.meta.url)));
  }
  assert.ok(folders >= 5);
  assert.deepEqual(taken, []);
});

Deno.test("localPath() keeps paths of this console, and no others", () => {
  assert.equal(localPath("/servers?state=failed#x"), "/servers?state=failed#x");
  for (
    const path of [
      null,
      "",
      "servers",
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "/..//evil.example",
    ]
  ) {
    assert.equal(localPath(path), "/", String(path));
  }
});
