import { createHash } from "node:crypto";
import { fromFileUrl, join } from "@std/path";
import { GatewayError } from "../core/errors.ts";
import { printError } from "./terminal.ts";

const root = () => fromFileUrl(new URL("../..", import.meta.url));
const stampFile = () => join(root(), "_fresh", "stamp");

/** What ends up in the build; the rest of the gateway runs from its sources. */
const INPUTS = [
  "routes",
  "islands",
  "components",
  "static",
  "lib/console",
  "lib/compat",
  "deno.json",
];

/** Builds the console in a process of its own, unless the build there is made of what is here. */
export async function ensureBuild(): Promise<void> {
  if (await isFresh()) return;
  printError("quartermaster: building the console (once, and after a change)\n");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-P=build", "dev.ts", "build"],
    cwd: root(),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  throw new GatewayError("CONFIG_INVALID", {
    message: `Cannot build the console: ${new TextDecoder().decode(stderr).trim()}`,
  });
}

/** Notes what the build was made of; the last step of a build. */
export async function stampBuild(): Promise<void> {
  await Deno.writeTextFile(stampFile(), await fingerprint());
}

async function isFresh(): Promise<boolean> {
  try {
    return await Deno.readTextFile(stampFile()) === await fingerprint();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function fingerprint(): Promise<string> {
  const rows = await Promise.all(INPUTS.map((input) => describe(input)));
  return createHash("sha256").update([Deno.version.deno, ...rows.flat()].join("\n")).digest("hex");
}

/** A line for each file: its path, size and time of change tell enough, and cost little. */
async function describe(path: string): Promise<string[]> {
  const info = await Deno.stat(join(root(), path)).catch(() => undefined);
  if (!info) return [];
  if (!info.isDirectory) return [`${path} ${info.size} ${info.mtime?.getTime()}`];
  const names: string[] = [];
  for await (const entry of Deno.readDir(join(root(), path))) names.push(entry.name);
  const rows = await Promise.all(names.sort().map((name) => describe(`${path}/${name}`)));
  return rows.flat();
}
