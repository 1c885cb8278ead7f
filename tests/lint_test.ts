import assert from "node:assert/strict";
import plainEnglish, { findPhrases } from "./lint/plain_english.ts";

function lint(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plainEnglish, file, source).map(({ message }) => message);
}

Deno.test("the lint refuses text that reads as translated, wherever it stands", () => {
  for (
    const source of [
      'const text = "4 unless told";',
      "const text = `It is ${1}, unless told`;",
      "// Changes are taken\n// up by themselves.\n/* unless\n * told */",
      "const page = <p>Nothing waits</p>;",
    ]
  ) {
    assert.equal(lint("lib/x.tsx", source).length > 0, true, source);
  }
  assert.deepEqual(lint("lib/x.ts", 'const text = "default: 4";'), []);
  assert.deepEqual(lint("lib/x_test.ts", 'const text = "4 unless told";'), []);
});

Deno.test("the docs have no text that reads as translated", () => {
  for (const page of ["README.md", "CONTRIBUTING.md", ...docs("docs"), ...docs("docs/clients")]) {
    const text = Deno.readTextFileSync(new URL(`../${page}`, import.meta.url));
    assert.deepEqual(findPhrases(text).map(({ phrase }) => phrase), [], page);
  }
});

function docs(folder: string): string[] {
  return [...Deno.readDirSync(new URL(`../${folder}`, import.meta.url))]
    .filter(({ name }) => name.endsWith(".md")).map(({ name }) => `${folder}/${name}`);
}
