import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";

export interface Bundle {
  /** By path below the bundle's folder. */
  chunks: Map<string, Uint8Array<ArrayBuffer>>;
  /** The chunk of the client runtime. */
  runtime: string;
  /** The chunk of each island, in the order they were given. */
  islands: string[];
}

/** Bundles the client runtime and the islands for the browser, with one copy of what they share. */
export async function bundleForBrowser(islands: string[], minify: boolean): Promise<Bundle> {
  const runtime = fileURLToPath(new URL("./client/main.ts", import.meta.url));
  const entrypoints = [runtime, ...islands];
  const outputDir = "/bundle";
  const { success, errors, outputFiles = [] } = await Deno.bundle({
    entrypoints,
    outputDir,
    minify,
    platform: "browser",
    format: "esm",
    codeSplitting: true,
    write: false,
  });
  if (!success) {
    const lines = errors.map(({ text, location: at }) => `${text} (${at?.file}:${at?.line})`);
    throw new Error(`Cannot bundle the islands:\n${lines.join("\n")}`);
  }

  const below = (base: string, path: string) => relative(base, path).replaceAll("\\", "/");
  const chunks = new Map(
    outputFiles.map(({ path, contents }) => [below(outputDir, path), contents ?? new Uint8Array()]),
  );
  // The bundler keeps the folders below the one that all entry points share.
  let base = dirname(runtime);
  while (!entrypoints.every((path) => path.startsWith(base))) base = dirname(base);
  const chunkOf = (path: string) => below(base, path).replace(/\.\w+$/, ".js");
  return { chunks, runtime: chunkOf(runtime), islands: islands.map(chunkOf) };
}
