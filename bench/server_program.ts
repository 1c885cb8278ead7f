import { basename, fromFileUrl, join } from "@std/path";
import { OTHER_DENO } from "../lib/servers/processes/testing/other_deno.ts";
import { TEST_LOCK } from "../tests/packages.ts";

/** How the benchmark's server is run; its own flags follow. */
export interface ServerProgram {
  command: string;
  args: string[];
}

/** The server under Node, as most are run (it has to be on PATH), or under Deno. */
export async function serverProgram(
  runtime: "node" | "deno",
  folder: string,
  fixture: "bench_server" | "stateless_server" = "bench_server",
): Promise<ServerProgram> {
  const source = fromFileUrl(new URL(`./fixtures/${fixture}.ts`, import.meta.url));
  if (runtime === "deno") {
    return { command: OTHER_DENO, args: ["run", "-A", "-q", "--lock", TEST_LOCK, source] };
  }
  const file = join(folder, `${basename(source, ".ts")}.mjs`);
  const { success, errors, outputFiles = [] } = await Deno.bundle({
    entrypoints: [source],
    platform: "deno",
    format: "esm",
    write: false,
  });
  const [bundle] = outputFiles;
  if (!success || !bundle?.contents) {
    throw new Error(`Cannot bundle the server: ${errors.map(({ text }) => text).join("\n")}`);
  }
  await Deno.writeFile(file, bundle.contents);
  return { command: "node", args: [file] };
}
