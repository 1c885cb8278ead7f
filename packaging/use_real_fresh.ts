/**
 * `deno task use-real-fresh` has the console run on Fresh and @std/path from JSR instead of the
 * replacements in lib/compat; with `--back`, on the replacements again. Both do all of it or nothing.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Ignored by Git, Deno's checks and the tests. */
const CACHE = join(ROOT, ".cache");
/** What the switch replaced, at the same paths; it exists from the first step to the last of the way back. */
const KEPT = join(CACHE, "stand_in");
/** The same, when it is not needed anymore. */
const OLD = join(CACHE, "stand_in.old");
/** The new files, until all of them are complete. */
const STAGE = join(CACHE, "real_fresh");
const FILES = ["deno.json", "deno.lock", "tests/deno.lock"];
const FOLDERS = ["lib/compat/fresh", "lib/compat/std_path"];
const LINKS = /^[ \t]*"links": \[[^\]]*\],\r?\n/m;

const BACK = "deno task use-real-fresh --back";

async function useReal(): Promise<void> {
  // The folders are moved last, and come back first: if one is there, a switch was cut short.
  const areThere = await Promise.all(FOLDERS.map((folder) => exists(join(ROOT, folder))));
  if (await exists(KEPT) && areThere.includes(true)) await restore();
  const manifest = await read("deno.json");
  if (!LINKS.test(manifest)) {
    return say("deno.json has no links: it uses the real packages already.");
  }
  await remove(STAGE);
  try {
    await stage(manifest);
    await replace();
  } finally {
    await remove(STAGE);
  }
  say(
    "The console now uses the real Fresh and @std/path. Next: deno task build\n" +
      `The replacements are in .cache/stand_in. To use them again: ${BACK}`,
  );
}

/** Makes the new files in a folder of their own: what cannot be completed changes nothing. */
async function stage(manifest: string): Promise<void> {
  await Deno.mkdir(join(STAGE, "tests"), { recursive: true });
  await Deno.writeTextFile(join(STAGE, "deno.json"), manifest.replace(LINKS, ""));
  await Deno.copyFile(join(ROOT, "deno.lock"), join(STAGE, "deno.lock"));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--frozen=false"],
    cwd: STAGE,
    env: { NO_COLOR: "1" },
    stdout: "null",
  }).output();
  if (!success) {
    throw new Error(
      `Cannot write the lock file: ${new TextDecoder().decode(stderr).split("\n")[0]}\n` +
        "Nothing was changed. The packages come from https://jsr.io: run this command on a machine " +
        "that reaches it, or set JSR_URL to a mirror that has them.",
    );
  }
  const [program, tests] = [join(STAGE, "deno.lock"), join(ROOT, "tests/deno.lock")]
    .map((path) => JSON.parse(Deno.readTextFileSync(path)));
  const merged = {
    ...program,
    specifiers: { ...tests.specifiers, ...program.specifiers },
    npm: { ...tests.npm, ...program.npm },
  };
  await Deno.writeTextFile(
    join(STAGE, "tests/deno.lock"),
    `${JSON.stringify(merged, null, 2)}\n`,
  );
}

async function replace(): Promise<void> {
  await keep();
  try {
    // While a link is in deno.json, Deno starts nothing without its folder.
    for (const file of FILES) await Deno.rename(join(STAGE, file), join(ROOT, file));
    for (const folder of FOLDERS) await Deno.rename(join(ROOT, folder), join(KEPT, folder));
  } catch (error) {
    await restore();
    throw error;
  }
}

/** Copies what is replaced; the folder gets its name when it is complete. */
async function keep(): Promise<void> {
  const next = `${KEPT}.next`;
  await remove(next);
  for (const folder of ["tests", "lib/compat"]) {
    await Deno.mkdir(join(next, folder), { recursive: true });
  }
  for (const file of FILES) await Deno.copyFile(join(ROOT, file), join(next, file));
  await Deno.rename(next, KEPT);
}

async function useReplacements(): Promise<void> {
  const manifest = await read("deno.json");
  if (!await exists(KEPT)) {
    if (LINKS.test(manifest)) return say("deno.json has its links: nothing to do.");
    throw new Error(
      "The switch was not made in this checkout, so there is no copy of the replacements: get " +
        `${[...FILES, ...FOLDERS].join(", ")} back from Git.`,
    );
  }
  await restore();
  say("The console uses the replacements in lib/compat again. Next: deno task build");
}

/** Brings back what was replaced, but nothing over what Git or a person has put there since. */
async function restore(): Promise<void> {
  const manifest = await read("deno.json");
  const original = await read(join(KEPT, "deno.json"), "");
  const isSwitched = !LINKS.test(manifest);
  if (isSwitched && manifest !== original.replace(LINKS, "")) {
    throw new Error(
      "deno.json has changed since the switch, and the change would be lost. Save it elsewhere, " +
        `undo it, run ${BACK}, then make it again.`,
    );
  }
  for (const folder of FOLDERS) {
    const [kept, own] = [join(KEPT, folder), join(ROOT, folder)];
    if (await exists(kept) && !await exists(own)) await Deno.rename(kept, own);
  }
  // deno.json last: once it has its links, everything is back.
  for (const file of isSwitched ? FILES.toReversed() : []) {
    // Not moved: until the end, anything that is cut short can be done again.
    await Deno.copyFile(join(KEPT, file), join(KEPT, `${file}.next`));
    await Deno.rename(join(KEPT, `${file}.next`), join(ROOT, file));
  }
  await remove(OLD);
  await Deno.rename(KEPT, OLD);
  await remove(OLD);
}

function read(path: string, root = ROOT): Promise<string> {
  return Deno.readTextFile(join(root, path));
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function remove(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

try {
  await (Deno.args.includes("--back") ? useReplacements() : useReal());
} catch (error) {
  Deno.stderr.writeSync(
    new TextEncoder().encode(`${error instanceof Error ? error.message : error}\n`),
  );
  Deno.exit(1);
}
