import assert from "node:assert/strict";
import { join } from "@std/path";
import { isBuildCurrent, stampBuild } from "./build_stamp.ts";

/** A small checkout with a build. */
async function inCheckout(run: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    for (const folder of ["_fresh", "lib/testing", "routes"]) {
      await Deno.mkdir(join(root, folder), { recursive: true });
    }
    for (const file of ["dev.ts", "deno.json", "lib/a file.ts", "routes/index.tsx"]) {
      await Deno.writeTextFile(join(root, file), `contents of ${file}`);
    }
    await stampBuild(root)();
    await run(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const retime = (path: string, seconds: number) => Deno.utime(path, seconds, seconds);
const stampOf = (root: string) => Deno.readTextFile(join(root, "_fresh", "stamp"));

Deno.test("isBuildCurrent() is true for the sources that the build was made of", () =>
  inCheckout(async (root) => {
    assert.equal(await isBuildCurrent(root), true);
    await Deno.remove(join(root, "_fresh", "stamp"));
    assert.equal(await isBuildCurrent(root), false);
  }));

Deno.test("isBuildCurrent() compares contents, whatever the file times are", () =>
  inCheckout(async (root) => {
    const before = await stampOf(root);
    for (const file of ["dev.ts", "lib/a file.ts"]) await retime(join(root, file), 1_000_000);
    assert.equal(await isBuildCurrent(root), true);
    // The new times are recorded: the next start need not read the files again.
    assert.notEqual(await stampOf(root), before);
    assert.match(await stampOf(root), / 1000000000 lib\/a file\.ts$/m);
  }));

Deno.test("isBuildCurrent() sees a change that keeps the size", () =>
  inCheckout(async (root) => {
    await Deno.writeTextFile(join(root, "dev.ts"), "Contents of dev.ts");
    await retime(join(root, "dev.ts"), 1_000_000);
    assert.equal(await isBuildCurrent(root), false);
  }));

Deno.test("isBuildCurrent() is false while a build is made, and after one whose sources changed", () =>
  inCheckout(async (root) => {
    const record = stampBuild(root);
    assert.equal(await isBuildCurrent(root), false);
    await Deno.writeTextFile(join(root, "dev.ts"), "an edit meanwhile");
    await record();
    assert.equal(await isBuildCurrent(root), false);
  }));

Deno.test("isBuildCurrent() sees files that came and went, and passes over tests", () =>
  inCheckout(async (root) => {
    await Deno.writeTextFile(join(root, "lib", "a_test.ts"), "");
    await Deno.writeTextFile(join(root, "lib", "testing", "b.ts"), "");
    assert.equal(await isBuildCurrent(root), true);
    await Deno.writeTextFile(join(root, "lib", "b.ts"), "");
    assert.equal(await isBuildCurrent(root), false);
    await Deno.remove(join(root, "lib", "b.ts"));
    await Deno.remove(join(root, "lib", "a file.ts"));
    assert.equal(await isBuildCurrent(root), false);
  }));

Deno.test("isBuildCurrent() accepts a build without sources", () =>
  inCheckout(async (root) => {
    for (const name of ["dev.ts", "lib", "routes"]) {
      await Deno.remove(join(root, name), { recursive: true });
    }
    assert.equal(await isBuildCurrent(root), true);
  }));
