import { basename, dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";

export interface Chunk {
  /** Below the folder of the bundle. */
  path: string;
  contents: Uint8Array<ArrayBuffer>;
}

export interface Bundle {
  chunks: Chunk[];
  /** The chunk of the client runtime. */
  runtime: string;
  /** The chunk of each island, in the order they were given. */
  islands: string[];
}

/** Bundles the client runtime and the islands for the browser, with one copy of what they share. */
export async function bundleForBrowser(
  islands: string[],
  options: { minify: boolean; sourceMap: boolean },
): Promise<Bundle> {
  const runtime = fileURLToPath(new URL("./client/main.ts", import.meta.url));
  const entrypoints = [runtime, ...islands];
  const outputDir = "/bundle";
  const result = await Deno.bundle({
    entrypoints,
    outputDir,
    platform: "browser",
    format: "esm",
    codeSplitting: true,
    minify: options.minify,
    write: false,
    ...(options.sourceMap ? { sourcemap: "linked" as const } : {}),
  });
  if (!result.success) {
    const messages = result.errors.map(({ text, location }) =>
      location ? `${text} (${location.file}:${location.line})` : text
    );
    throw new Error(`Cannot bundle the islands:\n${messages.join("\n")}`);
  }

  const chunks = (result.outputFiles ?? []).map(({ path, contents }) => ({
    path: relative(outputDir, path).replaceAll("\\", "/"),
    contents: contents ?? new Uint8Array(),
  }));
  // The bundler keeps the folders below the one that all entry points share.
  const base = sharedFolder(entrypoints);
  const chunkOf = (entry: string) => {
    const wanted = relative(base, entry).replaceAll("\\", "/").replace(/\.\w+$/, ".js");
    const chunk = chunks.find(({ path }) => path === wanted);
    if (chunk === undefined) throw new Error(`Cannot bundle ${basename(entry)}: no output`);
    return chunk.path;
  };
  return { chunks, runtime: chunkOf(runtime), islands: islands.map(chunkOf) };
}

function sharedFolder(paths: string[]): string {
  let folder = dirname(paths[0] ?? "");
  while (!paths.every((path) => path.startsWith(`${folder}/`)) && folder !== "/") {
    folder = dirname(folder);
  }
  return folder;
}
