import type { App } from "./app.ts";
import { applyBuild, type IslandFile, islandLoader, type RouteFile } from "./build.ts";
import { mediaType } from "./media_types.ts";

/** What a written build's server.js says about itself. */
export interface WrittenBuild {
  id: string;
  root: URL;
  runtime: string;
  islands: IslandFile[];
  routes: RouteFile[];
  /** The folder with the files of the table. */
  files: URL;
  table: Record<string, { hash: string; size: number; immutable?: boolean }>;
}

/** Gives an app the build that lies on disk. Nothing is looked for: the table has it all. */
export function applyWrittenBuild<State>(app: App<State>, build: WrittenBuild): void {
  const table = new Map(Object.entries(build.table));
  applyBuild(app, {
    id: build.id,
    root: build.root.pathname,
    runtime: build.runtime,
    islands: islandLoader(build.islands),
    routes: build.routes,
    find: (pathname) => {
      const file = table.get(pathname);
      if (file === undefined) return undefined;
      const path = pathname.split("/").map(encodeURIComponent).join("/");
      return {
        hash: file.hash,
        size: file.size,
        immutable: file.immutable ?? false,
        contentType: mediaType(pathname),
        open: async () => (await Deno.open(new URL(`.${path}`, build.files))).readable,
      };
    },
  }, "production");
}
