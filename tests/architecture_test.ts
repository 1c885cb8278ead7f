import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { findViolations, ROOMS, type SourceFile } from "./architecture.ts";

const root = fromFileUrl(new URL("..", import.meta.url));

function sourcesBelow(folder: string): SourceFile[] {
  return Array.from(Deno.readDirSync(join(root, folder)), (entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory) {
      return /^(\.|_fresh|node_modules)/.test(entry.name) ? [] : sourcesBelow(path);
    }
    return /\.tsx?$/.test(path) ? [{ path, text: Deno.readTextFileSync(join(root, path)) }] : [];
  }).flat();
}

Deno.test("the imports of the product point the way the design says", () => {
  const files = sourcesBelow("");
  assert.ok(files.length > 50, `only ${files.length} files were found`);
  for (
    const room of ["core", "config", "storage", "telemetry", "downstream", "http", "console", "cli"]
  ) {
    assert.ok(files.some(({ path }) => path.startsWith(`lib/${room}/`)), `no file in lib/${room}`);
  }
  assert.deepEqual(findViolations(files), []);
});

Deno.test("every folder of lib is a room of the design, or compat", () => {
  const folders = Array.from(Deno.readDirSync(join(root, "lib")))
    .filter((entry) => entry.isDirectory).map((entry) => entry.name);
  assert.deepEqual(folders.filter((name) => name !== "compat" && !ROOMS.flat().includes(name)), []);
});

Deno.test("findViolations() fails on a planted violation of each kind", () => {
  const planted: [string, string][] = [
    ["lib/core/x.ts", `import { Store } from "../storage/store.ts";`],
    ["lib/core/x.ts", `export * from "../storage/store.ts";`],
    ["lib/core/x.ts", `const { Store } = await import("../storage/store.ts");`],
    ["lib/core/x.ts", `import type { Store } from "../storage/store.ts";`],
    ["lib/core/x.ts", `import {\n  Store,\n} from "../storage/store.ts";`],
    ["lib/search/x.ts", `import { Toolset } from "../toolsets/toolset.ts";`],
    ["lib/http/x.ts", `import "../../main.ts";`],
    ["lib/http/x.ts", `import { compose } from "../compose.ts";`],
    ["lib/http/x.ts", `import { App } from "../compat/fresh/mod.ts";`],
    ["lib/compat/fresh/x.ts", `import { GatewayError } from "../../core/errors.ts";`],
    ["lib/attic/x.ts", `import { GatewayError } from "../core/errors.ts";`],
    ["lib/http/x.ts", `import { startGateway } from "../../tests/gateway.ts";`],
    ["islands/X.tsx", `import { Store } from "../lib/storage/store.ts";`],
    ["islands/X.tsx", `import type { Store } from "../lib/storage/store.ts";`],
    ["lib/core/x.ts", `import x from "https://example.com/x.ts";`],
    ["lib/core/x.ts", `import x from "jsr:@std/path";`],
  ];
  for (const [path, text] of planted) {
    assert.equal(findViolations([{ path, text }]).length, 1, `${path}: ${text}`);
  }
  const fine: [string, string][] = [
    ["lib/http/x.ts", `import { GatewayError } from "../core/errors.ts";`],
    ["lib/console/x.ts", `import type { Gateway } from "../compose.ts";`],
    ["routes/x.tsx", `import { define } from "../lib/console/define.ts";`],
    ["islands/X.tsx", `import { toast } from "../lib/console/ui/toast.ts";`],
  ];
  for (const [path, text] of fine) assert.deepEqual(findViolations([{ path, text }]), [], path);
});

Deno.test("deno.json imports nothing that a closed network would miss", () => {
  const manifest = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
  const linked = manifest.links.map((folder: string) =>
    JSON.parse(Deno.readTextFileSync(join(root, folder, "deno.json"))).name
  );
  for (const [name, target] of Object.entries<string>(manifest.imports)) {
    const isLinked = linked.some((linkedName: string) => target.startsWith(`jsr:${linkedName}@`));
    assert.ok(target.startsWith("npm:") || isLinked, `${name} comes from ${target}`);
  }
});
