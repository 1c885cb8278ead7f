import { setBuildId } from "./build_id.ts";
import type { ResolvedFreshConfig } from "./types.ts";

export interface StaticFile {
  hash: string;
  size: number;
  /** Its URL changes with its content. */
  immutable?: boolean;
  open(): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>>;
}

/** Where the browser gets an island: a module below the base path, and an export of it. */
export interface Island {
  name: string;
  chunk: string;
  exportName: string;
}

export interface IslandFile {
  name: string;
  chunk: string;
  load: () => Promise<Record<string, unknown>>;
}

/** A file below routes/: its path without extension, and its module or how to get it. */
export interface RouteFile {
  id: string;
  module: unknown;
}

/** What a Builder made: everything about the app that is not code of the app. */
export interface Build {
  id: string;
  root: string;
  /** Where the browser gets the client runtime, below the base path. */
  runtime: string;
  islands: () => Promise<ReadonlyMap<unknown, Island>>;
  routes: RouteFile[];
  find: (pathname: string) => StaticFile | undefined;
}

/** On the context by symbol, so that an app's code cannot come to depend on it. */
export const BUILD: unique symbol = Symbol("build");

export const NO_BUILD: Build = {
  id: "0",
  root: ".",
  runtime: "",
  islands: () => Promise.resolve(new Map()),
  routes: [],
  find: () => undefined,
};

const builds = new WeakMap<object, Build>();

/** Gives an app its build. Takes effect with the next `app.handler()`. */
export function applyBuild(
  app: { config: ResolvedFreshConfig },
  build: Build,
  mode: ResolvedFreshConfig["mode"],
): void {
  Object.assign(app.config, { root: build.root, mode });
  setBuildId(build.id);
  builds.set(app, build);
}

export function buildOf(app: object): Build {
  return builds.get(app) ?? NO_BUILD;
}

/** Loads the islands once, at the first page that is rendered. */
export function islandLoader(files: IslandFile[]): Build["islands"] {
  const load = async () => {
    const islands = new Map<unknown, Island>();
    const names = new Set<string>();
    const modules = await Promise.all(files.map((file) => file.load()));
    for (const [index, { name: fileName, chunk }] of files.entries()) {
      for (const [exportName, value] of Object.entries(modules[index] ?? {})) {
        if (typeof value !== "function") continue;
        const wanted = exportName === "default" ? fileName : exportName;
        const name = names.has(wanted) ? `${wanted}_${index}` : wanted;
        names.add(name);
        islands.set(value, { name, chunk, exportName });
      }
    }
    return islands;
  };
  let loading: ReturnType<typeof load> | undefined;
  return () => loading ??= load();
}
