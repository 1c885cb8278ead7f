import { createHash } from "node:crypto";

const FOLDERS = ["../", "../data/"].map((path) => new URL(path, import.meta.url));

/** A digest of every source file of the scanner, in the order of their names. */
export function digestOfRules(): string {
  const hash = createHash("sha256");
  for (const folder of FOLDERS) {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name)
      .filter((name) => /(?<!_test)\.ts$/.test(name) && name !== "revision.ts");
    for (const name of names.sort()) hash.update(Deno.readTextFileSync(new URL(name, folder)));
  }
  return hash.digest("hex").slice(0, 12);
}
