import { isAbsolute, join, relative } from "node:path";
import type { Isolation } from "../../../core/server.ts";

/** Something of this machine that a program sees. */
export interface Mount {
  path: string;
  isWritable: boolean;
}

/** Folders that programs and their libraries are installed in. */
export const SYSTEM_FOLDERS = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"],
  ...["/nix/store", "/run/current-system"],
];

// Not all of /etc: a gateway that runs as root could read the passwords and keys there.
export const SYSTEM_FILES = [
  ...["alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl/certs", "ssl/openssl.cnf"],
  ...["pki/tls/certs", "pki/ca-trust", "ca-certificates", "hosts", "nsswitch.conf", "passwd"],
  ...["group", "localtime", "timezone", "mime.types", "fonts"],
].map((name) => `/etc/${name}`);

/** What belongs to the program itself, inside. */
export const PRIVATE_FOLDER = "/run/quartermaster";
/** These show other programs and devices, whatever is mounted around them. */
const NEVER_SHARED = ["/proc", "/sys", "/dev", PRIVATE_FOLDER];

/** Whether a folder can be shown inside at all: not one that is there already, nor one around it. */
function isShareable(real: string): boolean {
  return !isInside(PRIVATE_FOLDER, real) && !NEVER_SHARED.some((folder) => isInside(real, folder));
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}

export function isShown(path: string | undefined, mounts: readonly Mount[]): path is string {
  return path !== undefined && mounts.some((mount) => isInside(path, mount.path));
}

/** The folders that an entry names; throws if one cannot be shared. */
export async function namedMounts(
  { read = [], write = [] }: Isolation,
  home: string,
): Promise<Mount[]> {
  const named = [
    ...read.map((path) => ({ path, isWritable: false })),
    ...write.map((path) => ({ path, isWritable: true })),
  ];
  return await Promise.all(named.map(async ({ path: written, isWritable }) => {
    const path = written.replace(/^~(?=\/|$)/, home);
    const problem = (what: string) => new Error(`its isolation names "${written}", which ${what}`);
    if (!isAbsolute(path)) throw problem("is not an absolute path");
    const real = await Deno.realPath(path).catch(() => undefined);
    if (real === undefined) throw problem("does not exist");
    if (!isShareable(real)) throw problem("cannot be shared with a program");
    return { path: join(path, "."), isWritable };
  }));
}

/**
 * The working folder, to read. Not the home folder, a folder of the gateway or one around them, which
 * nobody chose to share: an entry without a folder often starts there.
 */
export async function workingMount(
  cwd: string | undefined,
  home: string,
  hidden: readonly string[],
): Promise<Mount[]> {
  if (cwd === undefined) return [];
  const real = await Deno.realPath(cwd);
  const others = ["/tmp", home, ...hidden];
  const kept = await Promise.all(others.map((path) => Deno.realPath(path).catch(() => undefined)));
  const isChosen = !kept.some((path) => path !== undefined && isInside(path, real));
  return isChosen && isShareable(real) ? [{ path: cwd, isWritable: false }] : [];
}

/** A program's files outside the system's folders: itself and the interpreters it names; throws if it is not found. */
export async function programFiles(command: string, env: Record<string, string>, cwd = "/") {
  const found: string[] = [];
  let next: string | undefined = command;
  // A script's interpreter can be a script itself, but not without end.
  for (let depth = 0; next !== undefined && depth < 4; depth++) {
    const path = await findOnPath(next, env.PATH ?? "", cwd);
    if (path === undefined) throw missing(next);
    found.push(path, await Deno.realPath(path));
    next = await interpreterOf(path);
  }
  return [...new Set(found)].filter((path) =>
    !SYSTEM_FOLDERS.some((folder) => isInside(path, folder))
  );
}

function missing(command: string): Error {
  const isPath = command.includes("/");
  return new Error(
    isPath ? `there is no file "${command}"` : `command "${command}" is not on PATH`,
  );
}

export async function findOnPath(
  command: string,
  path: string,
  cwd = "/",
): Promise<string | undefined> {
  const candidates = command.includes("/")
    ? [isAbsolute(command) ? command : join(cwd, command)]
    : path.split(":").filter(isAbsolute).map((folder) => join(folder, command));
  for (const candidate of candidates) {
    const info = await Deno.stat(candidate).catch(() => undefined);
    if (info?.isFile && ((info.mode ?? 0o111) & 0o111) !== 0) return candidate;
  }
  return undefined;
}

/** The program that the first line of a script names. */
async function interpreterOf(path: string): Promise<string | undefined> {
  using file = await Deno.open(path).catch(() => undefined);
  const bytes = new Uint8Array(256);
  const length = await file?.read(bytes) ?? 0;
  const [line = ""] = new TextDecoder().decode(bytes.subarray(0, length)).split("\n");
  const [program, ...rest] = /^#!\s*(.+)$/.exec(line)?.[1]?.trim().split(/\s+/) ?? [];
  const isEnv = program !== undefined && /\/env$/.test(program);
  return isEnv ? rest.find((word) => !word.startsWith("-") && !word.includes("=")) : program;
}

/**
 * The places inside the mounts that belong to the gateway: its data, its settings and its config files,
 * which have the secrets of other servers.
 */
export async function hiddenPlaces(
  mounts: readonly Mount[],
  hidden: readonly string[],
): Promise<{ path: string; isFolder: boolean }[]> {
  const places = new Map<string, boolean>();
  for (const secret of hidden) {
    const real = await Deno.realPath(secret).catch(() => undefined);
    if (real === undefined) continue;
    const { isDirectory } = await Deno.stat(real);
    for (const { path } of mounts) {
      const shown = await Deno.realPath(path).catch(() => undefined);
      if (shown === undefined) continue;
      if (isInside(real, shown)) places.set(join(path, relative(shown, real)), isDirectory);
      else if (isInside(shown, real)) places.set(path, (await Deno.stat(shown)).isDirectory);
    }
  }
  return Array.from(places, ([path, isFolder]) => ({ path, isFolder }));
}
