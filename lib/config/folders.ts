// Also runs alone before each start, and on Node in the package's launcher. So it imports nothing, not
// even node:path, which takes longer to load than all of this.
import type { Env } from "./platform.ts";

/** The part of a machine that decides where folders are. */
export interface Machine {
  os: typeof Deno.build.os;
  env: Pick<Env, "get">;
  cwd(): string;
  /** The text of a file; undefined if there is none. */
  readText(path: string): string | undefined;
}

/** How paths are written there. */
type PathStyle = Pick<Machine, "os">;

function join({ os }: PathStyle, base: string, ...parts: string[]): string {
  const isWindows = os === "windows";
  const folder = base.replace(isWindows ? /[/\\]+$/ : /\/+$/, "");
  return [folder, ...parts].join(isWindows ? "\\" : "/");
}

function isAbsolute({ os }: PathStyle, path: string): boolean {
  return os === "windows" ? /^(?:[A-Za-z]:)?[/\\]/.test(path) : path.startsWith("/");
}

function folderOf({ os }: PathStyle, path: string): string {
  const isWindows = os === "windows";
  const end = path.search(isWindows ? /[/\\][^/\\]*$/ : /\/[^/]*$/);
  return path.slice(0, Math.max(end, isWindows ? "C:\\".length : "/".length));
}

/** The machine that Deno runs on. */
export function thisMachine(env: Machine["env"]): Machine {
  return {
    os: Deno.build.os,
    env,
    cwd: Deno.cwd,
    readText(path) {
      try {
        return Deno.readTextFileSync(path);
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Variables that the gateway's process starts with. Memory blocks of 1 MiB and more go back to the system
 * once they are free: otherwise glibc keeps all up to the size of the largest one that was ever freed.
 * Smaller ones go back when the gateway asks for it (lib/cli/tidy.ts), which the second variable allows.
 */
export const PROCESS_ENV = { MALLOC_MMAP_THRESHOLD_: "1048576", DENO_USR2_MEMORY_TRIM: "1" };

/** The same with the temporary folder: Deno and Node look at different variables, and guess otherwise. */
export function processEnv(machine: Machine): Record<string, string> {
  const folder = temporaryFolder(machine);
  if (folder === undefined) return PROCESS_ENV;
  return {
    ...PROCESS_ENV,
    ...(machine.os === "windows" ? { TMP: folder, TEMP: folder } : { TMPDIR: folder }),
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
  const below = (base: string | undefined, ...parts: string[]) =>
    base === undefined ? undefined : join({ os }, base, ...parts);
  if (os === "windows") {
    const home = get("USERPROFILE");
    const roaming = get("APPDATA") ?? below(home, "AppData", "Roaming");
    const local = get("LOCALAPPDATA") ?? below(home, "AppData", "Local");
    return { home, config: below(roaming, APP), data: below(local, APP) };
  }
  const home = get("HOME");
  if (os === "darwin") {
    const folder = below(home, "Library", "Application Support", APP);
    return { home, config: folder, data: folder };
  }
  // The XDG specification has relative folders ignored.
  const absolute = (name: string) => get(name)?.startsWith("/") ? get(name) : undefined;
  const config = absolute("XDG_CONFIG_HOME") ?? below(home, ".config");
  const data = absolute("XDG_DATA_HOME") ?? below(home, ".local", "share");
  return { home, config: below(config, APP), data: below(data, APP) };
}

/** The data folder and the store's file, as far as they are known. */
export interface DataPlaces {
  dataDir?: string | undefined;
  kv?: string | undefined;
}

/** Where the data is, by flags and the environment. The settings file can say otherwise. */
export function dataPlaces(args: readonly string[], machine: Machine): DataPlaces {
  const { os, env } = machine;
  const named = (flag: string, variable: string) => {
    const at = args.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
    const value = args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1);
    return (at < 0 ? undefined : value) || env.get(variable) || undefined;
  };
  const whole = (path: string) =>
    isAbsolute(machine, path) ? path : join(machine, machine.cwd(), path.replace(/^\.[/\\]/, ""));
  const dataDir = named("--data-dir", "QUARTERMASTER_DATA_DIR");
  const kv = named("--kv", "QUARTERMASTER_KV");
  return {
    dataDir: dataDir === undefined ? platformDirs(os, env).data : whole(dataDir),
    kv: kv === undefined || /^:memory:$|^https?:/.test(kv) ? undefined : whole(kv),
  };
}

/** The folder of the data, and that of a store elsewhere. */
export function dataFolders({ dataDir, kv }: DataPlaces, style: PathStyle): string[] {
  return [
    ...dataDir === undefined ? [] : [dataDir],
    ...kv !== undefined && isAbsolute(style, kv) ? [folderOf(style, kv)] : [],
  ];
}

/** The folders that a gateway writes: data with its logs, the store, npx's packages, temporary files. */
export function writtenFolders(places: DataPlaces, machine: Machine): string[] {
  const { env, readText } = machine;
  const temporary = temporaryFolder(machine);
  const home = env.get("HOME") || env.get("USERPROFILE");
  const ownCache = env.get("npm_config_cache") || env.get("NPM_CONFIG_CACHE");
  const npmrc = home === undefined ? undefined : readText(join(machine, home, ".npmrc"));
  const caches = [
    ownCache ?? (home === undefined ? "" : npmCache(home, npmrc ?? "", machine)),
    join(machine, isolatedCache((name) => env.get(name)), "npm"),
  ];
  return [
    ...new Set([
      ...dataFolders(places, machine),
      ...caches.filter((cache) => isAbsolute(machine, cache))
        .map((cache) => join(machine, cache, "_npx")),
      ...temporary === undefined ? [] : [temporary],
    ]),
  ];
}

function temporaryFolder({ os, env }: Machine): string | undefined {
  const names = os === "windows" ? ["TMP", "TEMP"] : ["TMPDIR", "TMP", "TEMP"];
  return names.map((name) => env.get(name) ?? "").find((folder) => isAbsolute({ os }, folder)) ??
    (os === "windows" ? undefined : "/tmp");
}

/** npm's cache, unless a variable moves it. */
export function npmCache(
  home: string,
  npmrc: string,
  machine: Pick<Machine, "os" | "env">,
): string {
  const written = /^\s*cache\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(npmrc)?.[1];
  if (written !== undefined) return written.replaceAll("${HOME}", home).replace(/^~(?=\/)/, home);
  const local = machine.env.get("LOCALAPPDATA");
  return machine.os === "windows" && local !== undefined
    ? join(machine, local, "npm-cache")
    : join(machine, home, ".npm");
}

/** The cache for the packages of isolated servers. */
export function isolatedCache(get: (name: string) => string | undefined): string {
  const caches = get("XDG_CACHE_HOME") ?? `${get("HOME") ?? "/tmp"}/.cache`;
  return `${caches}/${APP}/isolated`;
}

/** Deno's flag for writing in these folders. A comma separates them, so with one in a path it is for all. */
export function writeFlag(folders: readonly string[]): string {
  const isWhole = folders.some((folder) => folder.includes(","));
  return isWhole ? "--allow-write" : `--allow-write=${folders.join(",")}`;
}
