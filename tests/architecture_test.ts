import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { findViolations, MODULES, type SourceFile } from "./architecture.ts";

const root = fromFileUrl(new URL("..", import.meta.url));

/** Files that still import what they should not. The list only gets shorter. */
const EXCEPTIONS: string[] = [
  "routes/(console)/optimization/[server]/[tool]/index.tsx",
  "routes/(console)/settings/(_components)/cards.tsx",
];

function sourcesBelow(folder: string): SourceFile[] {
  return Array.from(Deno.readDirSync(join(root, folder)), (entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory) {
      return /^(\.|_fresh|node_modules|dist|generated)/.test(entry.name) ? [] : sourcesBelow(path);
    }
    return /\.(tsx?|mjs)$/.test(path)
      ? [{ path, text: Deno.readTextFileSync(join(root, path)) }]
      : [];
  }).flat();
}

Deno.test("the imports of the product point the way the design says", () => {
  const files = sourcesBelow("");
  assert.ok(files.length > 500, `only ${files.length} files were found`);
  const modules = MODULES.flat().filter((module) => module !== "gateway");
  const folders = [...modules.map((module) => `lib/${module}/`), "routes/", "islands/"];
  for (
    const start of [...folders, "components/", "lib/gateway.ts", "main.ts", "app.ts", "host.ts"]
  ) {
    assert.ok(files.some(({ path }) => path.startsWith(start)), `no file found: ${start}`);
  }
  const violations = findViolations(files);
  const isExcepted = (violation: string) =>
    EXCEPTIONS.some((path) =>
      violation.startsWith(`${path} imports `) || violation.startsWith(`${path}: `)
    );
  assert.deepEqual(violations.filter((violation) => !isExcepted(violation)), []);
  const unused = EXCEPTIONS.filter((path) => !violations.some((line) => line.startsWith(path)));
  assert.deepEqual(unused, [], "these exceptions are no longer needed");
});

Deno.test("zod is imported as a namespace, or the program would have all of its locales", () => {
  const whole = sourcesBelow("lib").concat(sourcesBelow("routes"), sourcesBelow("islands"))
    .filter(({ text }) => /^import \{ z \} from "zod";$|\bz\.(core|locales)\./m.test(text));
  assert.deepEqual(whole.map(({ path }) => path), [], 'write `import * as z from "zod"`');
});

Deno.test("every folder of lib is a module of the design, or compat", () => {
  const folders = Array.from(Deno.readDirSync(join(root, "lib")))
    .filter((entry) => entry.isDirectory).map((entry) => entry.name);
  const known = [...MODULES.flat(), "compat"];
  assert.deepEqual(folders.filter((name) => !known.includes(name)), []);
});

Deno.test("findViolations() fails on a planted violation of each kind", () => {
  const planted: [string, string][] = [
    // Upward, in every form of import.
    ["lib/core/x.ts", `import { Store } from "../storage/store.ts";`],
    ["lib/core/x.ts", `export * from "../storage/store.ts";`],
    ["lib/core/x.ts", `const { Store } = await import("../storage/store.ts");`],
    ["lib/core/x.ts", `import type { Store } from "../storage/store.ts";`],
    ["lib/core/x.ts", `import {\n  Store,\n} from "../storage/store.ts";`],
    ["lib/core/x.ts", `import "../storage/store.ts";`],
    // A package whose names a bundle may lose.
    ["lib/telemetry/x.ts", `const { prettyFactory } = await import("pino-pretty");`],
    // Neighbors.
    ["lib/trust/x.ts", `import { Toolset } from "../optimizer/jobs.ts";`],
    ["lib/cli/x.ts", `import { define } from "../console/define.ts";`],
    // The gateway.
    ["lib/http/x.ts", `import { buildGateway } from "../gateway.ts";`],
    ["lib/operations/x.ts", `import type { Gateway } from "../gateway.ts";`],
    ["lib/console/x.ts", `import { buildGateway } from "../gateway.ts";`],
    ["lib/gateway.ts", `import { jobNews } from "./console/ui/job_news.ts";`],
    ["routes/x.tsx", `import { buildGateway } from "../lib/gateway.ts";`],
    ["routes/a/(_page)/model.ts", `import { buildGateway } from "../../../lib/gateway.ts";`],
    // The root of lib.
    ["lib/core/x.ts", `import { servers } from "../compose_servers.ts";`],
    ["lib/http/x.ts", `import { review } from "../compose_review.ts";`],
    ["lib/attic/x.ts", ""],
    // The app, the start and the tests.
    ["lib/http/x.ts", `import "../../main.ts";`],
    ["lib/console/x.ts", `import { model } from "../../routes/a/(_page)/model.ts";`],
    ["lib/console/x.ts", `import { Card } from "../../components/card.tsx";`],
    ["routes/x.tsx", `import { host } from "../host.ts";`],
    ["lib/http/x.ts", `import { startGateway } from "../../tests/gateway.ts";`],
    ["lib/http/x.ts", `import { stub } from "../mcp/testing/stub.ts";`],
    // Compat.
    ["lib/http/x.ts", `import { App } from "../compat/fresh/mod.ts";`],
    ["lib/compat/fresh/x.ts", `import { GatewayError } from "../../core/errors.ts";`],
    // Pages, components and islands.
    ["routes/x.tsx", `import { Store } from "../lib/storage/store.ts";`],
    ["routes/api/x.ts", `import { ServerPool } from "../../lib/servers/server_pool.ts";`],
    ["routes/a/(_page)/model.ts", `import { run } from "../../../lib/cli/run.ts";`],
    ["components/x.tsx", `import { Store } from "../lib/storage/store.ts";`],
    ["components/x.tsx", `import type { Store } from "../lib/storage/store.ts";`],
    ["components/x.tsx", `import { Jobs } from "../lib/optimizer/jobs.ts";`],
    ["routes/a/(_components)/x.tsx", `import { Jobs } from "../../../lib/optimizer/jobs.ts";`],
    ["islands/x.tsx", `import { Store } from "../lib/storage/store.ts";`],
    ["islands/x.tsx", `import type { Store } from "../lib/storage/store.ts";`],
    ["islands/x.tsx", `import { isStarting } from "../lib/core/server.ts";`],
    ["islands/x.tsx", `import { paging } from "../lib/console/paging.ts";`],
    ["routes/a/(_islands)/x.tsx", `import { Store } from "../../../lib/storage/store.ts";`],
    ["routes/a/(_islands)/x.tsx", `import { load } from "../(_page)/model.ts";`],
    // Packages.
    ["lib/core/x.ts", `import x from "https://example.com/x.ts";`],
    ["lib/core/x.ts", `import x from "jsr:@std/path";`],
  ];
  for (const [path, text] of planted) {
    assert.ok(findViolations([{ path, text }]).length > 0, `${path}: ${text}`);
  }
});

Deno.test("findViolations() finds what an island loads through other files", () => {
  const island = { path: "islands/x.tsx", text: `import { Y } from "../components/y.tsx";` };
  const throughComponent = `import { paging } from "../lib/console/paging.ts";`;
  const component = { path: "components/y.tsx", text: throughComponent };
  assert.deepEqual(findViolations([component]), []);
  assert.equal(findViolations([island, component]).length, 1);
  const withZod = [
    island,
    { path: "components/y.tsx", text: `import { isStarting } from "../lib/core/server.ts";` },
    { path: "lib/core/server.ts", text: `import { z } from "zod";` },
  ];
  assert.equal(findViolations(withZod).length, 1);
});

Deno.test("findViolations() finds nothing wrong with imports that point down", () => {
  const fine: [string, string][] = [
    ["lib/http/x.ts", `import { GatewayError } from "../core/errors.ts";`],
    ["lib/gateway.ts", `import { buildOperations } from "./operations/module.ts";`],
    ["lib/cli/x.ts", `const { buildGateway } = await import("../gateway.ts");`],
    ["lib/console/x.ts", `import type { Gateway } from "../gateway.ts";`],
    ["lib/console/x.ts", `import { type Gateway, type GatewayInput } from "../gateway.ts";`],
    ["main.ts", `import { buildGateway } from "./lib/gateway.ts";`],
    ["routes/x.tsx", `import { define } from "../lib/console/define.ts";`],
    ["routes/x.tsx", `import type { Tool } from "../lib/catalog/tool.ts";`],
    ["routes/a/(_page)/model.ts", `import { Tool } from "../../../lib/catalog/tool.ts";`],
    ["routes/a/(_page)/model.ts", `import { b } from "../../b/(_page)/model.ts";`],
    ["components/x.tsx", `import type { Tool } from "../lib/catalog/tool.ts";`],
    ["islands/x.tsx", `import { toast } from "../lib/console/ui/toast.ts";`],
    ["islands/x.tsx", `import type { ServerStatus } from "../lib/core/server.ts";`],
    ["lib/core/x.ts", `export const NOTE = "retrying soon";`],
    ["lib/core/x_test.ts", `import { Store } from "../storage/store.ts";`],
  ];
  for (const [path, text] of fine) assert.deepEqual(findViolations([{ path, text }]), [], path);
});

Deno.test("deno.json imports nothing that a closed network would miss", () => {
  const manifest = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
  // Without links, the real packages are in use.
  const linked =
    manifest.links?.map((folder: string) =>
      JSON.parse(Deno.readTextFileSync(join(root, folder, "deno.json"))).name
    ) ?? ["@fresh/core", "@std/path"];
  for (const [name, target] of Object.entries<string>(manifest.imports)) {
    const isLinked = linked.some((linkedName: string) => target.startsWith(`jsr:${linkedName}@`));
    assert.ok(target.startsWith("npm:") || isLinked, `${name} comes from ${target}`);
  }
});

Deno.test("lib/gateway.ts declares what the gateway offers, in under 250 lines", async () => {
  const text = await Deno.readTextFile(new URL("../lib/gateway.ts", import.meta.url));
  assert.match(text, /^export interface Gateway\b/m);
  assert.match(text, /export async function buildGateway\([^)]*\): Promise<Gateway>/);
  assert.ok(text.split("\n").length < 250, "lib/gateway.ts has 250 lines or more");
});
