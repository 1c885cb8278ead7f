import { createHash } from "node:crypto";
import { basename, relative } from "node:path";
import { bundleForBrowser } from "./bundle.ts";
import { crawl, findFiles, type FoundRoute } from "./crawl.ts";

export interface BuildPaths {
  root: string;
  serverEntry: string;
  outDir: string;
  staticDir: string[];
  islandDir: string;
  routeDir: string;
  ignore: RegExp[];
}

interface File {
  contents: Uint8Array<ArrayBuffer>;
  hash: string;
  size: number;
  immutable: boolean;
}

/** All that a build consists of, before it is served or written. */
export interface BuildParts {
  id: string;
  runtime: string;
  islands: { name: string; chunk: string; path: string }[];
  routes: FoundRoute[];
  files: Map<string, File>;
}

/** `salt` makes a build different from others of the same content. */
export async function makeBuild(
  paths: BuildPaths,
  { minify, salt = "" }: { minify: boolean; salt?: string },
): Promise<BuildParts> {
  const { islands, routes } = await crawl(paths);
  const bundle = await bundleForBrowser(islands, minify);
  const statics = await readStatics(paths.staticDir);
  const id = hashOf(salt, ...[...bundle.chunks, ...statics].flat());
  const url = (path = "") => `/_fresh/js/${id}/${path}`;
  const file = (contents: Uint8Array<ArrayBuffer>, immutable: boolean): File => {
    return { contents, hash: hashOf(contents), size: contents.byteLength, immutable };
  };
  return {
    id,
    runtime: url(bundle.runtime),
    islands: islands.map((path, index) => {
      return {
        name: basename(path).replace(/\.\w+$/, ""),
        chunk: url(bundle.islands[index]),
        path,
      };
    }),
    routes,
    files: new Map([
      ...Array.from(statics, ([path, contents]) => [path, file(contents, false)] as const),
      ...Array.from(bundle.chunks, ([path, code]) => [url(path), file(code, true)] as const),
    ]),
  };
}

/** All public files by pathname. The first folder that has one wins. */
async function readStatics(dirs: string[]): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const found = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const dir of dirs) {
    for (const path of await findFiles(dir)) {
      const pathname = `/${relative(dir, path).replaceAll("\\", "/")}`;
      // Files whose name starts with a dot are nobody's business, but for /.well-known/.
      const isHidden = /\/\.(?!well-known\/)/.test(pathname);
      if (!found.has(pathname) && !isHidden) found.set(pathname, await Deno.readFile(path));
    }
  }
  return found;
}

function hashOf(...contents: (Uint8Array | string)[]): string {
  const hash = createHash("sha256");
  for (const content of contents) hash.update(content);
  return hash.digest("hex").slice(0, 16);
}
