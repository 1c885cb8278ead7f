import { createHash } from "node:crypto";
import { fromFileUrl } from "@std/path";

const FOLDER = new URL("../", import.meta.url);

/** Of every source of the scanner, in the order of their names. */
export function digestOfRules(): string {
  const names = [...Deno.readDirSync(fromFileUrl(FOLDER))].map(({ name }) => name)
    .filter((name) => name.endsWith(".ts") && !name.endsWith("_test.ts") && name !== "revision.ts");
  const hash = createHash("sha256");
  for (const name of names.sort()) hash.update(Deno.readTextFileSync(new URL(name, FOLDER)));
  return hash.digest("hex").slice(0, 12);
}
