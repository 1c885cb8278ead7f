import assert from "node:assert/strict";
import { TEST_LOCK } from "./packages.ts";

interface Lock {
  specifiers: Record<string, string>;
  npm: Record<string, unknown>;
}

const root = new URL("../", import.meta.url);
const readJson = async (path: string | URL) => JSON.parse(await Deno.readTextFile(path));
const manifest = await readJson(new URL("deno.json", root));
const program: Lock = await readJson(new URL("deno.lock", root));
const tests: Lock = await readJson(TEST_LOCK);

const TEST_ONLY = [
  "@modelcontextprotocol/conformance",
  "@modelcontextprotocol/server-everything",
  "@modelcontextprotocol/server-filesystem",
  "@modelcontextprotocol/server-memory",
  "@sparticuz/chromium",
  "axe-core",
  "fast-check",
  "playwright-core",
];

Deno.test("a start fetches no package of the tests", () => {
  for (const name of TEST_ONLY) {
    const isIt = (text: string) => text.replace(/^npm:\/?/, "").startsWith(`${name}@`);
    assert(Object.keys(tests.npm).some(isIt), `${name} is not used any more`);
    assert(!Object.keys(program.npm).some(isIt), `deno.lock has ${name}`);
    const imports: string[] = Object.values(manifest.imports);
    assert(!imports.some(isIt), `deno.json imports ${name}`);
  }
});

Deno.test("the tests use the program's packages in the program's versions", () => {
  for (const part of ["specifiers", "npm"] as const) {
    const shared = Object.keys(program[part]).map((key) => [key, tests[part][key]]);
    assert.deepEqual(
      Object.fromEntries(shared),
      program[part],
      "run: deno task --frozen=false lock",
    );
  }
});
