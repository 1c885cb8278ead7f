import { fromFileUrl, join } from "@std/path";
import { ROOT } from "../core/product.ts";

/** Folders that the console serves: files in the repository, and files a build generates. */
export const STATIC_FOLDERS = ["static", "generated"];

/**
 * Joins styles/ into generated/console.css, so that a page links one stylesheet. A folder of its
 * own: a generated file in static/ would change the build's stamp and restart `deno task dev`, and
 * Fresh serves no static files from below _fresh/ or a folder whose name starts with a dot.
 */
export async function bundleStyles(root = fromFileUrl(ROOT)): Promise<void> {
  const outputDir = join(root, "generated");
  const { success, errors, outputFiles = [] } = await Deno.bundle({
    entrypoints: [join(root, "styles", "console.css")],
    outputDir,
    platform: "browser",
    minify: true,
    write: false,
  });
  if (!success) {
    const lines = errors.map(({ text, location: at }) => `${text} (${at?.file}:${at?.line})`);
    throw new Error(`Cannot bundle the styles:\n${lines.join("\n")}`);
  }
  await Deno.mkdir(outputDir, { recursive: true });
  for (const { path, contents = new Uint8Array() } of outputFiles) {
    // Not rewritten if unchanged: another process may be reading it.
    const before = await Deno.readFile(path).catch(() => undefined);
    if (before === undefined || !isEqual(before, contents)) await Deno.writeFile(path, contents);
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
