import { fromFileUrl, join } from "@std/path";
import { OTHER_DENO } from "../lib/downstream/stdio/testing/other_deno.ts";

const source = fromFileUrl(new URL("./fixtures/bench_server.ts", import.meta.url));

/** How the benchmark's server is run; its own flags follow. */
export interface ServerProgram {
  command: string;
  args: string[];
}

/** The server under Node, as most are run, or under Deno. */
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
  if (!success) throw new Error(errors.map(({ text }) => text).join("\n"));
  await Deno.writeFile(file, outputFiles[0]?.contents ?? new Uint8Array());
  return { command: "node", args: [file] };
}
