import type { App } from "./app.ts";
import { applyBuild, type IslandFile, islandLoader, type RouteFile } from "./build.ts";

/** What a written build's server.js says about itself. */
export interface WrittenBuild {
  id: string;
  root: URL;
  runtime: string;
  islands: IslandFile[];
  routes: RouteFile[];
  /** The folder with the files of the table. */
  folder: URL;
  files: Record<string, { hash: string; size: number; immutable?: boolean }>;
}

/** Gives an app the build that lies on disk. Nothing is looked for: the table has it all. */
export function applyWrittenBuild<State>(app: App<State>, build: WrittenBuild): void {
  const { id, root, runtime, routes, folder } = build;
  const files = new Map(Object.entries(build.files));
  const find = (pathname: string) => {
    const file = files.get(pathname);
    if (file === undefined) return undefined;
    const path = pathname.split("/").map(encodeURIComponent).join("/");
    return { ...file, open: async () => (await Deno.open(new URL(`.${path}`, folder))).readable };
  };
  const islands = islandLoader(build.islands);
  applyBuild(app, { id, root: root.pathname, runtime, islands, routes, find }, "production");
}
