import assert from "node:assert/strict";
import {
  CEILING,
  countLines,
  functionsOf,
  isSource,
  repeatedNames,
  sizeOf,
  sourceFiles,
} from "./size.ts";

Deno.test("the product stays below its ceiling", async () => {
  const files = await sourceFiles();
  const { files: count, lines } = sizeOf(files);
  assert.ok(count > 300, `only ${count} files were found`);
  assert.ok(count <= CEILING.files, `${count} files: merge some`);
  assert.ok(lines <= CEILING.lines, `${lines} lines: delete some`);
  const longFiles = files.filter(({ text }) => countLines(text) > CEILING.linesPerFile);
  assert.deepEqual(longFiles.map(({ path }) => path), []);
  const longFunctions = files.flatMap(functionsOf)
    .filter(({ lines }) => lines > CEILING.linesPerFunction);
  assert.deepEqual(longFunctions, []);
  assert.deepEqual([...repeatedNames(files)], []);
});

Deno.test("isSource() leaves out tests, fixtures, benchmarks and data", () => {
  const sources = ["main.ts", "lib/core/errors.ts", "islands/x.tsx", "packaging/start.mjs"];
  const others = [
    "lib/core/errors_test.ts",
    "lib/mcp/testing/stub.ts",
    "tests/size.ts",
    "bench/main.ts",
    "lib/trust/scanner/data/phrases.ts",
    "README.md",
  ];
  assert.deepEqual([...sources, ...others].filter(isSource), sources);
});

Deno.test("functionsOf() measures functions, methods and arrows, with their signatures", () => {
  const text = `export class Pool {
  async close(
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) {
      return;
    }
  }
}

export const open = async () => {
  await 1;
};

function short() {
  for (const x of []) {
    x;
  }
}
`;
  const found = functionsOf({ path: "x.ts", text }).map(({ name, line, lines }) =>
    `${name} ${line} ${lines}`
  );
  assert.deepEqual(found, ["close 2 7", "open 11 3", "short 15 5"]);
});

Deno.test("repeatedNames() finds a name that two files export, but not a route's handler", () => {
  const files = [
    { path: "lib/a.ts", text: "export interface Verdict {}\nexport const a = 1;\n" },
    { path: "lib/b.ts", text: "export type Verdict = string;\n" },
    { path: "lib/c.ts", text: "export const C = 1;\nexport type C = typeof C;\n" },
    { path: "routes/a.ts", text: "export const handler = 1;\n" },
    { path: "routes/b.ts", text: "export const handler = 1;\n" },
  ];
  assert.deepEqual([...repeatedNames(files)], [["Verdict", ["lib/a.ts", "lib/b.ts"]]]);
});
