import { createHash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { GatewayError } from "../../core/errors.ts";
import { changeFolder } from "../../core/change_folder.ts";
import { npmCache } from "../../config/folders.ts";
import { splitCommand } from "../../config/shell.ts";

/** Installers of one family share a cache. */
type InstallerFamily = "npm" | "uv" | "pipx" | "bun" | "pnpm" | "yarn" | "docker";

export interface Installer {
  family: InstallerFamily;
  name: string;
  /** The packages or image as written: `@scope/name@1.2.3`. Never empty. */
  packages: string[];
  env: Record<string, string>;
  cache?: string;
  /** Its own command line: the program, its options, and what follows them. */
  program: string;
  options: string[];
  rest: string[];
  /**
   * The positions of its arguments; undefined inside a shell's command, and if an option is not known
   * to leave alone which packages are installed.
   */
  at?: InstallerWords;
}

/** Positions in a command line. */
interface InstallerWords {
  program: number;
  /** The values of options that name packages; empty if the first argument names one. */
  packages: number[];
  /** The first argument that is no option. */
  argument: number;
}

interface Grammar {
  family: InstallerFamily;
  name: string;
  /** The subcommand between the program and its options: `tool run`, `exec`. */
  verb: string[];
  /** Options followed by a value; all others take none. */
  valued: readonly string[];
  /** Valued options that name a package; without one, the first argument names it. */
  packaged: readonly string[];
  /** Options that the same packages are installed with, or that say where they come from. */
  plain?: readonly string[];
}

const NPM: Omit<Grammar, "verb"> = {
  family: "npm",
  name: "npx",
  valued: [
    ...["--package", "-c", "--call", "-w", "--workspace", "--cache", "--registry", "--reg"],
    ...["-C", "--prefix", "--userconfig", "--globalconfig", "--loglevel", "--script-shell"],
    ...["--shell", "--tag", "--omit", "--include", "--only", "--also", "--before", "--enjoy-by"],
    ...["--allow-scripts", "--auth-type", "--ca", "--cache-max", "--cache-min", "--cafile"],
    ...["--cert", "--cpu", "--fetch-retries", "--fetch-retry-factor", "--fetch-retry-maxtimeout"],
    ...["--fetch-retry-mintimeout", "--fetch-timeout", "--git", "--https-proxy", "--proxy"],
    ...["--noproxy", "--install-strategy", "--key", "--libc", "--local-address", "-L"],
    ...["--location", "--logs-dir", "--logs-max", "--maxsockets", "--min-release-age"],
    ...["--node-gyp", "--node-options", "--os", "--otp", "--scope", "--umask", "--user-agent"],
  ],
  packaged: ["--package"],
  plain: [
    ...["-y", "--yes", "-q", "--quiet", "-s", "--silent", "-d", "-dd", "-ddd", "--verbose"],
    ...["--package", "-c", "--call", "--cache", "--registry", "--userconfig", "--loglevel"],
    ...["--prefer-offline", "--prefer-online", "--no-audit", "--no-fund", "--no-color"],
    ...["--no-progress", "--no-update-notifier", "--ignore-scripts"],
  ],
};
// To npm itself, -p is another option.
const NPX: typeof NPM = {
  ...NPM,
  valued: ["-p", ...NPM.valued],
  packaged: ["-p", ...NPM.packaged],
  plain: ["-p", ...NPM.plain!],
};
const UV = {
  family: "uv",
  valued: [
    ...["--from", "--with", "-p", "--python", "--directory", "--project", "--index-url", "-i"],
    ...["--index", "--extra-index-url", "-w", "--env-file", "--cache-dir", "--with-requirements"],
    ...["--default-index", "-f", "--find-links", "--index-strategy", "--keyring-provider"],
    ...["--with-editable", "-c", "--constraints", "-b", "--build-constraints", "--overrides"],
    ...["--python-platform", "--torch-backend", "-P", "--upgrade-package", "--upgrade-group"],
    ...["--resolution", "--prerelease", "--prerelease-package", "--fork-strategy"],
    ...["--exclude-newer", "--exclude-newer-package", "--no-sources-package", "--link-mode"],
    ...["--reinstall-package", "-C", "--config-setting", "--config-settings-package"],
    ...["--no-build-isolation-package", "--no-build-package", "--no-binary-package"],
    ...["--refresh-package", "--color", "--allow-insecure-host", "--config-file"],
  ],
  packaged: ["--from"],
  plain: [
    ...["--from", "-p", "--python", "--index-url", "-i", "--default-index", "--index"],
    ...["--extra-index-url", "--cache-dir", "--link-mode", "--color", "--isolated"],
    ...["-q", "--quiet", "-v", "--verbose", "--no-progress"],
  ],
} as const;
const PIPX: Omit<Grammar, "verb"> = {
  family: "pipx",
  name: "pipx",
  valued: ["--spec", "--python", "--index-url", "-i", "--pip-args", "--with"],
  packaged: ["--spec"],
};
const PACKAGE = ["-p", "--package"];
const BUN = { family: "bun", name: "bunx", valued: PACKAGE, packaged: PACKAGE } as const;
const PNPM = {
  family: "pnpm",
  name: "pnpm dlx",
  valued: ["--package", "-C", "--dir"],
  packaged: ["--package"],
} as const;

const GRAMMARS: Partial<Record<string, Grammar[]>> = {
  npx: [{ ...NPX, verb: [] }],
  npm: ["exec", "x"].map((verb) => ({ ...NPM, verb: [verb] })),
  uvx: [{ ...UV, name: "uvx", verb: [] }],
  uv: [
    { ...UV, name: "uvx", verb: ["tool", "run"] },
    { ...UV, name: "uvx", verb: ["tool", "uvx"] },
    { ...UV, name: "uv", verb: ["run"] },
  ],
  pipx: [{ ...PIPX, verb: ["run"] }],
  bunx: [{ ...BUN, verb: [] }],
  bun: [{ ...BUN, verb: ["x"] }],
  pnpm: [{ ...PNPM, verb: ["dlx"] }],
  pnpx: [{ ...PNPM, verb: [] }],
  yarn: [{ family: "yarn", name: "yarn dlx", verb: ["dlx"], valued: PACKAGE, packaged: PACKAGE }],
};

/** Options of `docker run` that take a value; all long ones with `=` are one word anyway. */
const DOCKER_VALUED = new Set([
  ...["-e", "--env", "--env-file", "-v", "--volume", "--mount", "-p", "--publish", "--name"],
  ...["--network", "--net", "-w", "--workdir", "-u", "--user", "--entrypoint", "-h", "--hostname"],
  ...["--add-host", "--platform", "-m", "--memory", "--cpus", "-l", "--label", "--pull", "--gpus"],
  ...["--cap-add", "--cap-drop", "--security-opt", "--tmpfs", "--device", "--ipc", "--dns"],
]);

/** The installer that a command line runs, directly or through `env`, `cmd /c`, a simple `sh -c` or Node. */
export function findInstaller(words: readonly string[]): Installer | undefined {
  const { name, program, rest, env } = unwrapped(words);
  if (name === "docker" || name === "podman") return dockerRun(name, rest, { env, program });
  for (const grammar of GRAMMARS[name] ?? []) {
    const found = readInstaller(grammar, rest);
    if (!found) continue;
    const { argument, named, isPlain: isKnown, ...installer } = found;
    const begin = words.length - rest.length;
    const isPlain = isKnown && begin > 0 &&
      rest.every((word, index) => words[begin + index] === word);
    const at = {
      program: begin - 1,
      packages: named.map((index) => begin + index),
      argument: begin + argument,
    };
    return { ...installer, env, program, ...(isPlain ? { at } : {}) };
  }
  return undefined;
}

/** Whether a process is an installer at work, not the program it finally runs. */
export function isInstallerProcess(words: readonly string[]): boolean {
  // For a moment, npm's command line is only its name.
  return GRAMMARS[unwrapped(words).name] !== undefined;
}

function unwrapped(words: readonly string[]) {
  const env: Record<string, string> = {};
  let [program = "", ...rest] = words;
  // Wrappers can be nested, but never deeply.
  for (let depth = 0; depth < 4; depth++) {
    const name = programName(program);
    if (name === "env") {
      while (rest[0] !== undefined && /^[A-Za-z_]\w*=/.test(rest[0])) {
        const [, variable = "", value = ""] = /^(\w+)=(.*)$/s.exec(rest.shift()!) ?? [];
        env[variable] = value;
      }
    } else if (name === "cmd" && /^\/[cC]$/.test(rest[0] ?? "")) rest.shift();
    else if (/^(?:ba|da|z|k)?sh$/.test(name) && /^-l?c$/.test(rest[0] ?? "")) {
      rest = simpleCommand(rest[1] ?? "");
      // Otherwise a script: one that Node runs, or a version manager's shim.
    } else if (!/^(?:node|python[\d.]*|exec|(?:ba|da|z|k)?sh)$/.test(name)) break;
    [program = "", ...rest] = rest;
  }
  return { name: programName(program), program, rest, env };
}

interface ReadInstaller extends Omit<Installer, "env" | "program" | "at"> {
  argument: number;
  named: number[];
  isPlain: boolean;
}

function readInstaller(
  { family, name, verb, valued, packaged, plain = [] }: Grammar,
  words: readonly string[],
): ReadInstaller | undefined {
  if (verb.some((word, index) => words[index] !== word)) return undefined;
  const packages: string[] = [];
  const named: number[] = [];
  let argument = words.length;
  let cache: string | undefined;
  let isPlain = true;
  for (let at = verb.length; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--" || !word.startsWith("-")) {
      argument = word === "--" ? at + 1 : at;
      break;
    }
    const [option = "", inline] = splitOnce(word);
    const isValued = valued.includes(option);
    isPlain &&= plain.includes(option) && (isValued || inline === undefined);
    const value = inline ?? (isValued ? words[++at] : undefined);
    if (value === undefined) continue;
    if (packaged.includes(option)) {
      packages.push(value);
      named.push(at);
    }
    if (option === "--cache" || option === "--cache-dir") cache = value;
  }
  const first = words[argument];
  if (packages.length === 0 && first !== undefined) packages.push(first);
  // The user's own project: its name does not tell which packages it needs.
  if (packages.length === 0 || packages.some(isLocal)) return undefined;
  const options = words.slice(verb.length, words[argument - 1] === "--" ? argument - 1 : argument);
  const rest = words.slice(argument);
  // Without --, npm takes options behind the package for its own.
  if (verb.length > 0 && family === "npm" && words[argument - 1] !== "--") {
    const end = rest.indexOf("--");
    isPlain &&= !rest.slice(0, end === -1 ? undefined : end).some((word) => word.startsWith("-"));
  }
  const common = { family, name, packages, argument, named, options, rest, isPlain };
  return { ...common, ...(cache === undefined ? {} : { cache }) };
}

function dockerRun(
  name: string,
  words: readonly string[],
  wrapping: Pick<Installer, "env" | "program">,
): Installer | undefined {
  if (words[0] !== "run") return undefined;
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!;
    if (!word.startsWith("-")) {
      const [options, rest] = [words.slice(1, at), words.slice(at)];
      return { family: "docker", name, packages: [word], options, rest, ...wrapping };
    }
    if (DOCKER_VALUED.has(word)) at++;
  }
  return undefined;
}

/** `/usr/bin/npx`, `npx.cmd` and `npx-cli.js` are all npx. */
function programName(path: string): string {
  const file = path.split(/[/\\]/).at(-1) ?? "";
  return file.toLowerCase().replace(/\.(?:exe|cmd|bat|ps1|c?js)$/, "").replace(/-cli$/, "");
}

/** The arguments of a shell command that runs exactly one program; empty for any other. */
function simpleCommand(text: string): string[] {
  if (/[;&|<>$`()\n*?]/.test(text)) return [];
  try {
    return splitCommand(text);
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}

function isLocal(spec: string): boolean {
  return /^(?:\.{0,2}[/\\]|\.{1,2}$|~|[A-Za-z]:[/\\]|file:)/.test(spec) || /\.py$/.test(spec);
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.indexOf("=");
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

/** The variables that move a family's cache out of the home folder; the first one set counts. */
const CACHE_VARIABLES: Record<InstallerFamily, readonly string[]> = {
  npm: ["npm_config_cache", "NPM_CONFIG_CACHE"],
  uv: ["UV_CACHE_DIR", "XDG_CACHE_HOME"],
  pipx: ["PIPX_HOME", "XDG_DATA_HOME"],
  bun: ["BUN_INSTALL_CACHE_DIR", "BUN_INSTALL", "XDG_CACHE_HOME"],
  pnpm: ["PNPM_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"],
  yarn: ["YARN_GLOBAL_FOLDER", "YARN_CACHE_FOLDER", "XDG_CACHE_HOME"],
  docker: [],
};

export interface Surroundings {
  env: Record<string, string>;
  cwd?: string | undefined;
}

/** A folder that tells an installer's package cache from others: two installs share it or do not. */
export async function packageCache(
  { family, cache, env: added }: Pick<Installer, "family" | "cache" | "env">,
  { env, cwd }: Surroundings,
): Promise<string> {
  const all = { ...env, ...added };
  const named = cache ?? CACHE_VARIABLES[family].map((name) => all[name]).find((value) => value);
  const home = all.HOME ?? all.USERPROFILE ?? "";
  if (named !== undefined || family !== "npm") return resolve(cwd ?? ".", named ?? home);
  const npmrc = await Deno.readTextFile(join(home, ".npmrc")).catch(() => "");
  const machine = { os: Deno.build.os, env: { get: (name: string) => all[name] } };
  return resolve(cwd ?? ".", npmCache(home, npmrc, machine));
}

// npx installs each set of packages into its own folder, `_npx/HASH` in npm's cache. It runs
// whatever it finds there, so a folder that a killed npm left half filled fails at every start.

/** npm touches its lock every second while it is at work in the folder. */
const LOCK_FRESH_MS = 5_000;
const LOCK = "concurrency.lock";
const REMOVE_TRIES = 3;

export async function npxFolder(
  installer: Pick<Installer, "packages" | "cache" | "env">,
  place: Surroundings,
): Promise<string> {
  const hash = createHash("sha512")
    .update(installer.packages.toSorted((a, b) => a.localeCompare(b, "en")).join("\n"))
    .digest("hex").slice(0, 16);
  return join(await packageCache({ ...installer, family: "npm" }, place), "_npx", hash);
}

/** Whether the folder holds a `complete` install, a `partial` one, or nothing (`absent`). */
export async function npxFolderState(folder: string): Promise<"absent" | "partial" | "complete"> {
  const modules = join(folder, "node_modules");
  const names = await namesIn(modules);
  if (names === undefined) return "absent";
  // npm writes this list of installed packages when it is done.
  if (!names.includes(".package-lock.json")) return "partial";
  const scopes = names.filter((name) => name.startsWith("@"));
  const scoped = await Promise.all(scopes.map((scope) => namesIn(join(modules, scope))));
  // An update first moves each old package aside, and removes it at the end.
  const isRetired = (name: string) => /^\..+-[A-Za-z0-9]{8}$/.test(name);
  return [names, ...scoped].some((all) => all?.some(isRetired)) ? "partial" : "complete";
}

/** Whether an npm is working there now; only npm 11 and newer hold a lock. */
export async function isLocked(folder: string): Promise<boolean> {
  const lock = await Deno.stat(join(folder, LOCK)).catch(() => undefined);
  return lock?.mtime ? Date.now() - lock.mtime.getTime() < LOCK_FRESH_MS : false;
}

/** Removes one folder of npx's cache, and refuses anything else. True if there was one. */
export async function removeNpxFolder(folder: string): Promise<boolean> {
  if (!/^[0-9a-f]{16}$/.test(basename(folder)) || basename(dirname(folder)) !== "_npx") {
    throw new Error(`${folder} is not a folder of the npx cache`);
  }
  // A symbolic link leads elsewhere; only a real folder is npx's.
  const info = await Deno.lstat(folder).catch(() => undefined);
  if (!info?.isDirectory) return false;
  for (let tries = 1;; tries++) {
    try {
      await changeFolder(folder, "removed");
      return true;
    } catch (error) {
      if (tries === REMOVE_TRIES) throw error;
    }
  }
}

async function namesIn(folder: string): Promise<string[] | undefined> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => undefined);
  return entries?.map(({ name }) => name);
}
