import { fromFileUrl, join } from "@std/path";
import { OTHER_DENO } from "../lib/servers/processes/testing/other_deno.ts";

const source = fromFileUrl(new URL("./fixtures/bench_server.ts", import.meta.url));

/** How the benchmark's server is run; its own flags follow. */
export interface ServerProgram {
  command: string;
  args: string[];
}

/** The server under Node, as most are run (it has to be on PATH), or under Deno. */
export async function serverProgram(
  runtime: "node" | "deno",
  folder: string,
): Promise<ServerProgram> {
  if (runtime === "deno") return { command: OTHER_DENO, args: ["run", "-A", "-q", source] };
  const file = join(folder, "bench_server.mjs");
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
