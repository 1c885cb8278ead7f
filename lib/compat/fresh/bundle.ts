import { basename, dirname, resolve } from "node:path";
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

  // As on the real package, all chunks lie in one folder, under the names of their files.
  const names = new Map<string, string>();
  for (const { path } of outputFiles) {
    const name = basename(path);
    names.set(path, new Set(names.values()).has(name) ? `${names.size}_${name}` : name);
  }
  const chunks = new Map(outputFiles.map((file) => {
    const code = file.text().replaceAll(/(?<=")\.{1,2}\/[^"]+\.js(?=")/g, (to) => {
      const name = names.get(resolve(dirname(file.path), to));
      return name === undefined ? to : `./${name}`;
    });
    return [names.get(file.path)!, new TextEncoder().encode(code)];
  }));
  // The bundler keeps the folders below the one that all entry points share.
  const plain = (path: string) => path.replaceAll("\\", "/").replace(/\.\w+$/, "");
  const chunkOf = (entry: string) =>
    names.get(
      [...names.keys()].find((path) => plain(entry).endsWith(plain(path.slice(outputDir.length))))!,
    )!;
  return { chunks, runtime: chunkOf(runtime), islands: islands.map(chunkOf) };
}
