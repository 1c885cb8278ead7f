/** Makes the npm package from the built program, in `dist/`: a folder and its tarball. */
import { dirname, fromFileUrl, join } from "@std/path";
import { denoManifest, npmManifest, PACKAGE_NAME } from "./npm_manifest.ts";

const ROOT = fromFileUrl(new URL("..", import.meta.url));

/** Parts of the build that name sources, or that only a checkout uses. */
const LEFT_OUT = new Set(["entry", "server.js", "stamp"]);

/** Writes the package's folder from scratch and packs it; returns the tarball's path. */
export async function makePackage(output = join(ROOT, "dist")): Promise<string> {
  const folder = join(output, PACKAGE_NAME);
  await Deno.remove(folder, { recursive: true }).catch(ignoreAbsent);
  await copy(join(ROOT, "_fresh"), join(folder, "_fresh"), (name) => !LEFT_OUT.has(name));
  await copy(
    join(ROOT, "packaging", "quartermaster.mjs"),
    join(folder, "bin", "quartermaster.mjs"),
  );
  await copy(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  await copy(join(ROOT, "packaging", "README.md"), join(folder, "README.md"));
  // The console refers to these pages.
  await copy(join(ROOT, "docs"), join(folder, "docs"), (name) => name !== "adr");
  await writeJson(join(folder, "package.json"), npmManifest());
  await writeJson(join(folder, "deno.json"), denoManifest());
  const { success, stdout } = await new Deno.Command("npm", {
    args: ["pack", "--json", "--pack-destination", output],
    cwd: folder,
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("npm pack failed");
  const [packed]: { filename: string }[] = JSON.parse(new TextDecoder().decode(stdout));
  if (!packed) throw new Error("npm pack made no tarball");
  return join(output, packed.filename);
}

async function copy(from: string, to: string, isWanted = (_: string) => true): Promise<void> {
  if (!(await Deno.stat(from)).isDirectory) {
    await Deno.mkdir(dirname(to), { recursive: true });
    return await Deno.copyFile(from, to);
  }
  for await (const { name } of Deno.readDir(from)) {
    if (isWanted(name)) await copy(join(from, name), join(to, name));
  }
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

function ignoreAbsent(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

if (import.meta.main) {
  const tarball = await makePackage();
  await Deno.stdout.write(new TextEncoder().encode(`${tarball}\n`));
}
