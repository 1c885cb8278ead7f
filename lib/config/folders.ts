// Also runs alone before each start, and on Node in the package's launcher: it imports next to nothing.
import { posix, win32 } from "node:path";
import type { Env } from "./platform.ts";

/** The part of a machine that decides where folders are. */
export interface Machine {
  os: typeof Deno.build.os;
  env: Pick<Env, "get">;
  /** The text of a file; undefined if there is none. */
  readText(path: string): string | undefined;
}

/** The machine that Deno runs on. */
export function thisMachine(env: Machine["env"]): Machine {
  return {
    os: Deno.build.os,
    env,
    readText(path) {
      try {
        return Deno.readTextFileSync(path);
      } catch {
        return undefined;
      }
    },
  };
}

const APP = "quartermaster";

export interface PlatformDirs {
  home: string | undefined;
  config: string | undefined;
  data: string | undefined;
}

export function platformDirs(os: Machine["os"], env: Machine["env"]): PlatformDirs {
  const get = (name: string) => env.get(name) || undefined;
  if (os === "windows") {
    const home = get("USERPROFILE");
    const roaming = get("APPDATA") ?? below(win32, home, "AppData", "Roaming");
    const local = get("LOCALAPPDATA") ?? below(win32, home, "AppData", "Local");
    return { home, config: below(win32, roaming, APP), data: below(win32, local, APP) };
  }
  const home = get("HOME");
  if (os === "darwin") {
    const folder = below(posix, home, "Library", "Application Support", APP);
    return { home, config: folder, data: folder };
  }
  // The XDG specification has relative folders ignored.
  const absolute = (name: string) => posix.isAbsolute(get(name) ?? "") ? get(name) : undefined;
  const config = absolute("XDG_CONFIG_HOME") ?? below(posix, home, ".config");
  const data = absolute("XDG_DATA_HOME") ?? below(posix, home, ".local", "share");
  return { home, config: below(posix, config, APP), data: below(posix, data, APP) };
}

function below(
  path: { join(...parts: string[]): string },
  base: string | undefined,
  ...parts: string[]
): string | undefined {
  return base === undefined ? undefined : path.join(base, ...parts);
}

/** The data folder and the store's file, as far as they are known. */
export interface DataPlaces {
  dataDir?: string | undefined;
  kv?: string | undefined;
}

/** Where the data is, by flags and the environment. The settings file can say otherwise. */
export function dataPlaces(args: readonly string[], { os, env }: Machine): DataPlaces {
  const path = os === "windows" ? win32 : posix;
  const named = (flag: string, variable: string) => {
    const at = args.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
    const value = args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1);
    return (at < 0 ? undefined : value) || env.get(variable) || undefined;
  };
  const dataDir = named("--data-dir", "QUARTERMASTER_DATA_DIR");
  const kv = named("--kv", "QUARTERMASTER_KV");
  return {
    dataDir: dataDir === undefined ? platformDirs(os, env).data : path.resolve(dataDir),
    kv: kv === undefined || /^:memory:$|^https?:/.test(kv) ? undefined : path.resolve(kv),
  };
}

/** The folder of the data, and that of a store elsewhere. */
export function dataFolders({ dataDir, kv }: DataPlaces, { os }: Pick<Machine, "os">): string[] {
  const path = os === "windows" ? win32 : posix;
  return [
    ...dataDir === undefined ? [] : [dataDir],
    ...kv !== undefined && path.isAbsolute(kv) ? [path.dirname(kv)] : [],
  ];
}

/** The folders that a gateway writes: data with its logs, the store, npx's packages, temporary files. */
export function writtenFolders(places: DataPlaces, { os, env, readText }: Machine): string[] {
  const path = os === "windows" ? win32 : posix;
  const home = env.get("HOME") || env.get("USERPROFILE");
  const ownCache = env.get("npm_config_cache") || env.get("NPM_CONFIG_CACHE");
  const npmrc = home === undefined ? undefined : readText(path.join(home, ".npmrc"));
  const caches = [
    ownCache ?? (home === undefined ? undefined : npmCache(home, npmrc ?? "", { os, env })),
    path.join(isolatedCache((name) => env.get(name)), "npm"),
  ];
  const folders = [
    ...dataFolders(places, { os }),
    ...caches.map((cache) =>
      cache && path.isAbsolute(cache) ? path.join(cache, "_npx") : undefined
    ),
    ...temporaryFolders(os, env),
  ];
  return [...new Set(folders.filter((folder): folder is string => !!folder))];
}

/** Deno and Node look at different variables. */
function temporaryFolders(os: Machine["os"], env: Machine["env"]): string[] {
  const named = ["TMPDIR", "TMP", "TEMP"].map((name) => env.get(name) || "");
  if (os === "windows") return named.slice(1);
  return [...named, ...named[0] === "" ? ["/tmp"] : []]
    .filter((folder) => posix.isAbsolute(folder));
}

/** npm's cache, unless a variable moves it. */
export function npmCache(
  home: string,
  npmrc: string,
  { os, env }: Pick<Machine, "os" | "env">,
): string {
  const written = /^\s*cache\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(npmrc)?.[1];
  if (written !== undefined) return written.replaceAll("${HOME}", home).replace(/^~(?=\/)/, home);
  const local = env.get("LOCALAPPDATA");
  return os === "windows" && local !== undefined
    ? win32.join(local, "npm-cache")
    : posix.join(home, ".npm");
}

/** The cache for the packages of isolated servers. */
export function isolatedCache(get: (name: string) => string | undefined): string {
  const caches = get("XDG_CACHE_HOME") ?? posix.join(get("HOME") ?? "/tmp", ".cache");
  return posix.join(caches, APP, "isolated");
}

/** Deno's flag for writing in these folders. A comma separates them, so with one in a path it is for all. */
export function writeFlag(folders: readonly string[]): string {
  const isWhole = folders.some((folder) => folder.includes(","));
  return isWhole ? "--allow-write" : `--allow-write=${folders.join(",")}`;
}
