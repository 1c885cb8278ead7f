import { createHash } from "node:crypto";
import { fromFileUrl, join } from "@std/path";
import { detectPlatform } from "../config/deployment.ts";
import { systemEnv } from "../config/env.ts";
import { GatewayError } from "../core/errors.ts";
import { ROOT } from "../core/root.ts";
import { printError } from "./terminal.ts";

const root = () => fromFileUrl(ROOT);
const stampFile = () => join(root(), "_fresh", "stamp");

/** What ends up in the build. */
const INPUTS = [
  "routes",
  "islands",
  "components",
  "static",
  "lib",
  "app.ts",
  "host.ts",
  "start.ts",
  "deno.json",
];
/** Folders and files of tests, which do not. */
const TESTS = /^(testing|fixture)$|_test\.tsx?$/;

/** Where the built program is, made anew if its sources have changed; undefined where there is none. */
export async function findBuilt(): Promise<string | undefined> {
  const { canWrite } = detectPlatform(systemEnv());
  if (canWrite) await ensureBuild();
  const program = new URL("_fresh/start.js", ROOT);
  const isThere = await Deno.stat(program).then(() => true, () => false);
  return isThere ? program.href : undefined;
}

/** Builds in a process of its own, unless the build there is made of what is here. */
async function ensureBuild(): Promise<void> {
  if (await isFresh()) return;
  printError("quartermaster: building (once, and after a change)\n");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-P=build", "dev.ts", "build"],
    cwd: root(),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  throw new GatewayError("CONFIG_INVALID", {
    message: `Cannot build: ${new TextDecoder().decode(stderr).trim()}`,
  });
}

/** Notes what the build was made of; the last step of a build. */
export async function stampBuild(): Promise<void> {
  await Deno.writeTextFile(stampFile(), fingerprint());
}

async function isFresh(): Promise<boolean> {
  try {
    return await Deno.readTextFile(stampFile()) === fingerprint();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function fingerprint(): string {
  const folder = root();
  const rows = INPUTS.flatMap((input) => describe(folder, input));
  return createHash("sha256").update([Deno.version.deno, ...rows].join("\n")).digest("hex");
}

/**
 * A line for each file: its path, size and time of change tell enough. One after the other, while
 * nothing else is to be done: a thousand promises would take three times as long.
 */
function describe(folder: string, path: string): string[] {
  const whole = `${folder}/${path}`;
  const info = statOf(whole);
  if (!info) return [];
  if (!info.isDirectory) return [`${path} ${info.size} ${info.mtime?.getTime()}`];
  return [...Deno.readDirSync(whole)]
    .map(({ name }) => name)
    .filter((name) => !TESTS.test(name))
    .sort()
    .flatMap((name) => describe(folder, `${path}/${name}`));
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}
