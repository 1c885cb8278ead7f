import { basename, fromFileUrl, join } from "@std/path";
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

/** Names that the bundler gives to what it splits off; all else in the folder is the console's build. */
const CHUNK = /-[A-Z0-9]{8}\.js$/;

/** Before 2.8.3, Deno's bundler turns `require` of Node modules into a function that throws. */
const NO_REQUIRE = 'Dynamic require of "';
const REQUIRE =
  'import{createRequire}from"node:module";var require=createRequire(import.meta.url);';

/** The programs to build, with their sources: the gateway, the command line, and their helpers. */
const ENTRIES: Record<string, string[]> = {
  "start.js": [
    'import { run as start } from "../../start.ts";',
    'export const run = () => start(() => import("../server.js"));',
  ],
  "quartermaster.js": ['import "../../cli.ts";'],
  // For the package's launcher, which runs on Node.
  "folders.js": ['export * from "../../lib/config/folders.ts";'],
  "token_worker.js": ['import "../../lib/core/token_worker.ts";'],
  "secret_helper.js": ['import "../../lib/servers/secret_sources/secret_helper.ts";'],
  "transformers_model.js": [
    'import "../../lib/catalog/search/embedding/transformers_model.ts";',
  ],
};

/** Files that the programs read, copied next to them. */
const DATA = ["lib/catalog/search/data/embeddings.bin"];

/**
 * Hides the chunks that are loaded later from Deno, which would read and analyze every file that a
 * literal `import("...")` names with the first import: half of a start, and their text in memory.
 */
function loadLater(code: string): string {
  return code.replaceAll(/\bimport\(("\.\/[^"]+\.js")\)/g, "import(String($1))");
}

/**
 * Makes one program of the gateway and its console: it starts in half the time and takes an eighth
 * less memory than hundreds of modules. The programs are put in place last, each by one rename.
 */
export async function bundleProgram(): Promise<void> {
  const folder = join(fromFileUrl(ROOT), "_fresh");
  await Deno.mkdir(join(folder, "entry"), { recursive: true });
  const entrypoints = await Promise.all(
    Object.entries(ENTRIES).map(async ([name, lines]) => {
      const entry = join(folder, "entry", name);
      await Deno.writeTextFile(entry, `${lines.join("\n")}\n`);
      return entry;
    }),
  );
  const { success, errors, outputFiles = [] } = await Deno.bundle({
    entrypoints,
    outputDir: folder,
    platform: "deno",
    format: "esm",
    codeSplitting: true,
    minify: true,
    write: false,
  });
  if (!success) throw new Error(errors.map(({ text }) => text).join("\n"));
  for (const path of DATA) {
    const from = join(fromFileUrl(ROOT), path);
    await Deno.copyFile(from, join(folder, basename(path)));
  }
  const programs = Object.keys(ENTRIES).map((name) => join(folder, name));
  const names = new Set<string>();
  for (const { path, contents } of outputFiles) {
    const isProgram = programs.includes(path);
    const code = new TextDecoder().decode(contents);
    const preamble = code.includes(NO_REQUIRE) ? REQUIRE : "";
    await Deno.writeTextFile(isProgram ? `${path}.next` : path, preamble + loadLater(code));
    names.add(path);
  }
  for (const program of programs) await Deno.rename(`${program}.next`, program);
  for await (const { name } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (CHUNK.test(name) && !names.has(path)) await Deno.remove(path);
  }
}
