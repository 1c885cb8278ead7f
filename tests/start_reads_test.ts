import assert from "node:assert/strict";
import { join } from "@std/path";
import { sh } from "./checkout_copy.ts";
import { ROOT } from "./terminal.ts";

interface ModuleGraph {
  modules: { specifier: string; size?: number }[];
}

/** The files that Deno reads and analyzes before it runs one of the built program. */
async function filesReadFor(entry: string): Promise<{ name: string; size: number }[]> {
  const graph: ModuleGraph = JSON.parse(
    await sh(Deno.execPath(), ["info", "--json", "--no-config", join(ROOT, "_fresh", entry)]),
  );
  return graph.modules
    .filter(({ specifier }) => specifier.startsWith("file:"))
    .map(({ specifier, size = 0 }) => ({ name: specifier.split("/").pop() ?? "", size }));
}

Deno.test("a start reads the program, and nothing of the console, the commands and zod's locales", async () => {
  const names = [...Deno.readDirSync(join(ROOT, "_fresh"))].map(({ name }) => name);
  const gateway = names.find((name) => /^gateway-[A-Z0-9]{8}\.js$/.test(name));
  assert.ok(gateway);
  const files = [...await filesReadFor("start.js"), ...await filesReadFor(gateway)];
  const read = new Map(files.map(({ name, size }) => [name, size]));
  assert.ok(read.size > 10);
  const pages = [...read.keys()].filter((name) => /^(server-|\[|~|\(console\)|quarter)/.test(name));
  assert.deepEqual(pages, []);
  const kilobytes = [...read.values()].reduce((sum, size) => sum + size, 0) / 1_000;
  assert.ok(kilobytes < 960, `${read.size} files with ${kilobytes.toFixed(0)} kB`);
});
