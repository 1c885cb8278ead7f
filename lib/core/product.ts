import manifest from "../../deno.json" with { type: "json" };

/** Whether this is the built program, whose chunks are all in `_fresh/`. */
const IS_BUILT = /\/_fresh\/[^/]+\.js$/.test(import.meta.url);

/** Where the product lies: two folders above its sources, one above the built program. */
export const ROOT = new URL(IS_BUILT ? "../" : "../../", import.meta.url);

/** A file that is read or run by itself, such as a worker's module: its built file, or its source. */
export function builtFile(path: string): URL {
  const name = path.replace(/^.*\//, "").replace(/\.ts$/, ".js");
  return new URL(IS_BUILT ? `_fresh/${name}` : path, ROOT);
}

/** Whether this process is the command of an installed package: the built program without sources. */
export const IS_PACKAGE = IS_BUILT &&
  Deno.mainModule === new URL("_fresh/quartermaster.js", ROOT).href;

/** The file that starts the gateway: the launcher in a package, main.ts in a checkout. */
export const MAIN = new URL(IS_PACKAGE ? "bin/quartermaster.mjs" : "main.ts", ROOT);

export const VERSION: string = manifest.version;

/** The oldest Deno that the built program runs on. */
export const MINIMUM_DENO = "2.5.0";

/** The message for a Deno that is too old; undefined if the version is supported. */
export function oldDenoText(version: string = Deno.version.deno): string | undefined {
  const [minimum, current] = [MINIMUM_DENO, version].map((text) => text.split(/[.+-]/).map(Number));
  const at = minimum!.findIndex((part, index) => part !== current![index]);
  if (at < 0 || current![at]! > minimum![at]!) return undefined;
  return `Quartermaster requires Deno ${MINIMUM_DENO} or newer; this is ${version}. ` +
    "Run `deno upgrade`, or start with `npx -y deno task start`.";
}
