import assert from "node:assert/strict";
import { join } from "node:path";
import { stampFiles, watchFiles, type WatchOptions } from "./watch_files.ts";

/** Watches two files of a new folder; counts the callbacks. */
async function watch(options: Partial<WatchOptions> & { onChange?: () => void } = {}) {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const files = [join(folder, ".mcp.json"), join(folder, "later", "mcp.json")];
  const stop = new AbortController();
  const state = { changes: 0, errors: 0 };
  const watching = watchFiles(files, () => {
    state.changes++;
    options.onChange?.();
  }, {
    since: await stampFiles(files),
    signal: stop.signal,
    onError: () => state.errors++,
    ...options,
  });
  return {
    folder,
    files,
    state,
    async until(isSo: () => boolean) {
      for (let tries = 0; !isSo(); tries++) {
        assert.ok(tries < 6_000, `did not happen in 60 s: ${JSON.stringify(state)}`);
        await pause(10);
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("watchFiles() calls back when a file is made, written, replaced and removed", async () => {
  await using watched = await watch();
  const { folder, files: [file = ""], state } = watched;
  const steps = [
    () => Deno.writeTextFile(file, "one"),
    () => Deno.writeTextFile(file, "longer"),
    async () => {
      await Deno.writeTextFile(join(folder, "new.tmp"), "another");
      await Deno.rename(join(folder, "new.tmp"), file);
    },
    () => Deno.remove(file),
  ];
  for (const [index, step] of steps.entries()) {
    await step();
    await watched.until(() => state.changes === index + 1);
  }
  await Deno.writeTextFile(join(folder, "unrelated"), "x");
  await pause(200);
  assert.equal(state.changes, steps.length);
});

Deno.test("watchFiles() takes several writes close together as one change", async () => {
  await using watched = await watch();
  const { files: [file = ""], state } = watched;
  for (let size = 1; size <= 20; size++) await Deno.writeTextFile(file, "x".repeat(size));
  await watched.until(() => state.changes === 1);
  await pause(250);
  assert.equal(state.changes, 1);
});

Deno.test("watchFiles() sees what changed between the first reading and the watch", async () => {
  await using watched = await watch({ since: "as it was then" });
  await watched.until(() => watched.state.changes === 1);
});

Deno.test("watchFiles() goes on after a callback that fails, and calls it again", async () => {
  let failures = 2;
  await using watched = await watch({
    pollMs: 100,
    onChange: () => {
      if (failures-- > 0) throw new Error("The store is locked");
    },
  });
  const { files: [file = ""], state } = watched;
  await Deno.writeTextFile(file, "one");
  await watched.until(() => state.changes === 3);
  assert.equal(state.errors, 2);
  await Deno.writeTextFile(file, "another");
  await watched.until(() => state.changes === 4);
});

Deno.test("watchFiles() finds a file in a folder that comes later", async () => {
  await using watched = await watch({ pollMs: 100 });
  const { folder, files: [, later = ""], state } = watched;
  await Deno.mkdir(join(folder, "later"));
  await Deno.writeTextFile(later, "{}");
  await watched.until(() => state.changes === 1);
});
