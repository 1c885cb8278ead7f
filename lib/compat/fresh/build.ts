import { setBuildId } from "./build_id.ts";
import type { ResolvedFreshConfig } from "./types.ts";

export interface StaticFile {
  hash: string;
  size: number;
  contentType: string;
  /** Its URL changes with its content. */
  immutable: boolean;
  open(): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>>;
}

export interface Island {
  name: string;
  exportName: string;
  /** Where the browser gets it, below the base path. */
  chunk: string;
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
  find: (pathname: string) => StaticFile | undefined | Promise<StaticFile | undefined>;
}

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
  app.config.root = build.root;
  app.config.mode = mode;
  setBuildId(build.id);
  builds.set(app, build);
}

export function buildOf(app: object): Build {
  return builds.get(app) ?? NO_BUILD;
}

/** Loads the islands once, at the first page that is rendered. */
export function islandLoader(files: IslandFile[]): Build["islands"] {
  let loading: Promise<Map<unknown, Island>> | undefined;
  const load = async () => {
    const modules = await Promise.all(files.map((file) => file.load()));
    const islands = new Map<unknown, Island>();
    const taken = new Set<string>();
    files.forEach((file, index) => {
      for (const [exportName, value] of Object.entries(modules[index] ?? {})) {
        if (typeof value !== "function") continue;
        const wanted = exportName === "default" ? file.name : exportName;
        const name = taken.has(wanted) ? `${wanted}_${index}` : wanted;
        taken.add(name);
        islands.set(value, { name, exportName, chunk: file.chunk });
      }
    });
    return islands;
  };
  return () => loading ??= load();
}
