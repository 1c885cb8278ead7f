import { createHash } from "node:crypto";
import { join, sep } from "node:path";
import type { StaticFile } from "./build.ts";
import { mediaType } from "./media_types.ts";

export function hashOf(...contents: (Uint8Array | string)[]): string {
  const hash = createHash("sha256");
  for (const content of contents) hash.update(content);
  return hash.digest("hex").slice(0, 16);
}

/** Files whose name starts with a dot are nobody's business, but for /.well-known/. */
export function isServable(pathname: string): boolean {
  return !/[\\\0]/.test(pathname) &&
    pathname.split("/").slice(1).every((part) =>
      part !== "" && (!part.startsWith(".") || part === ".well-known")
    );
}

/** Looks files up on disk at each request, so that a change shows at once. */
export function staticFinder(
  dirs: string[],
): (pathname: string) => Promise<StaticFile | undefined> {
  return async (pathname) => {
    if (!isServable(pathname)) return undefined;
    for (const dir of dirs) {
      try {
        const path = await Deno.realPath(join(dir, pathname));
        // A link may point anywhere; only what lies in the folder is public.
        if (!path.startsWith((await Deno.realPath(dir)) + sep)) continue;
        const contents = await Deno.readFile(path);
        return {
          hash: hashOf(contents),
          size: contents.byteLength,
          contentType: mediaType(path),
          immutable: false,
          open: () => Promise.resolve(contents),
        };
      } catch (error) {
        const expected = error instanceof Deno.errors.NotFound ||
          error instanceof Deno.errors.IsADirectory || error instanceof Deno.errors.NotADirectory;
        if (!expected) throw error;
      }
    }
    return undefined;
  };
}
