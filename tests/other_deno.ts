import { join } from "@std/path";
import { sh } from "./checkout_copy.ts";

/** Another Deno as npm carries it; Deno's own cache keeps what was fetched. */
export async function fetchDeno(version: string, folder: string): Promise<string> {
  const arch = Deno.build.arch === "x86_64" ? "x64" : "arm64";
  const name = Deno.build.os === "linux" ? `linux-${arch}-glibc` : `${Deno.build.os}-${arch}`;
  const deno = (...args: string[]) => sh(Deno.execPath(), args);
  await deno("cache", "-q", "--no-config", "--no-lock", `npm:@deno/${name}@${version}`);
  const { npmCache } = JSON.parse(await deno("info", "--json", "--no-config"));
  for await (const { name: registry } of Deno.readDir(npmCache)) {
    const found = join(npmCache, registry, "@deno", name, version, "deno");
    const program = join(folder, `deno-${version}`);
    try {
      await Deno.copyFile(found, program);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      throw error;
    }
    await Deno.chmod(program, 0o755);
    return program;
  }
  throw new Error(`npm has no Deno ${version} for ${name}`);
}
