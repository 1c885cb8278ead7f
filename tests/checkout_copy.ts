import assert from "node:assert/strict";
import { join } from "@std/path";
import { startCommand } from "./gateway.ts";
import { ROOT } from "./terminal.ts";

export interface Copy {
  /** The checkout, in a path that has spaces and letters beyond ASCII. */
  root: string;
  /** A folder of its own, for everything else. */
  folder: string;
}

/** Copies the checkout with its build; files get new times, as in an image or after rsync. */
export async function withCopy(run: (copy: Copy) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const root = join(folder, "a pàth with späces 目");
  try {
    await Deno.chmod(folder, 0o755);
    await Deno.mkdir(root);
    const list = async (...flags: string[]) =>
      (await sh("git", ["ls-files", "-z", ...flags], ROOT)).split("\0");
    // Without the replacements in lib/compat, where the real packages are in use.
    const gone = new Set(["", ...await list("--deleted")]);
    const files = (await list()).filter((file) => !gone.has(file) && !file.startsWith("tests/"));
    await sh("cp", ["--parents", "-t", root, "--", ...files], ROOT);
    await sh("cp", ["-r", join(ROOT, "_fresh"), root]);
    await run({ root, folder });
  } finally {
    await sh("chmod", ["-R", "u+w", folder]);
    await Deno.remove(folder, { recursive: true });
  }
}

export async function sh(program: string, args: string[], cwd = ROOT): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** What `deno task serve` runs, of another checkout. */
export function commandIn(root: string): string[] {
  return startCommand().map((word) => word.endsWith("main.ts") ? join(root, "main.ts") : word);
}
