import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { isolatedCache } from "../../../config/folders.ts";
import { abortable } from "../../../core/async.ts";
import { readLines } from "../../transports/stdio_streams.ts";
import type { TransportEvents } from "../../transports/transport.ts";
import { type Installer, npxFolder, npxFolderState } from "../installer.ts";
import type { Installs } from "../installs.ts";
import { endGroups, type GroupCommand } from "../process_group.ts";
import type { ProcessOwner } from "../process_owner.ts";
import { explainingLine, ProgramOutput, startPiped } from "../program.ts";
import type { Mount } from "./mounts.ts";
import { pythonMounts } from "./sandbox.ts";

const ROLLBACK_MS = 2_000;
const LINE_BYTES = 8 * 1024;

export interface InstallContext {
  owner: ProcessOwner;
  installs: Installs | undefined;
  events: TransportEvents;
  signal: AbortSignal | undefined;
}

/** A program whose packages are there. */
export interface InstalledProgram {
  command: string;
  args: string[];
  mounts: Mount[];
}

/**
 * The environment for installing packages of isolated servers: a cache of their own, in which no script
 * of a package has run, for those run outside.
 */
export function installEnv(env: Record<string, string>): Record<string, string> {
  const folder = isolatedCache((name) => env[name]);
  return {
    ...env,
    npm_config_cache: join(folder, "npm"),
    npm_config_ignore_scripts: "true",
    UV_TOOL_DIR: join(folder, "uv"),
    UV_NO_BUILD: "1",
    DENO_DIR: join(folder, "deno"),
  };
}

/** Installs what npx or uvx would, outside and without running any of it, and finds the program. */
export async function installFirst(
  installer: Installer,
  given: GroupCommand,
  context: InstallContext,
): Promise<InstalledProgram> {
  const env = installEnv({ ...given.env, ...installer.env });
  // Not in the working folder, where a project's own packages and settings would be found.
  const place = { env, cwd: "/" };
  switch (installer.name) {
    case "npx":
      return await installNpm(installer, { ...given, ...place }, context);
    case "uvx":
      return await installUv(installer, { ...given, ...place }, context);
    default:
      throw new Error(
        `${installer.name} cannot be isolated: use npx, uvx or a program that is installed already`,
      );
  }
}

async function installNpm(
  installer: Installer,
  given: GroupCommand,
  context: InstallContext,
): Promise<InstalledProgram> {
  const { packages, options, program, rest } = installer;
  if (
    options.some((option) => /^(?:-c|--call|--cache|--shell|--script-shell)(?:=|$)/.test(option))
  ) {
    throw new Error(
      "npx with --call, --cache or --script-shell cannot be isolated: name the package only",
    );
  }
  const folder = await npxFolder({ packages, env: {} }, given);
  if (await npxFolderState(folder) !== "complete") {
    const named = isNamed(installer) ? [] : [`--package=${packages[0]}`];
    const isNpm = /^npm(?:\.cmd)?$/.test(program.split(/[/\\]/).at(-1) ?? "");
    const args = [...isNpm ? ["exec"] : [], "--yes", ...options, ...named, "-c", ":"];
    // Node runs the scripts that it is given by name.
    const command = /\.c?js$/.test(program) ? "npx" : program;
    await runInstaller({ ...given, command, args }, given, context);
  }
  if (await npxFolderState(folder) !== "complete") {
    throw new Error(`npx did not install ${packages.join(", ")} into ${folder}`);
  }
  const bins = join(folder, "node_modules", ".bin");
  const name = isNamed(installer) ? rest[0] ?? "" : await npmBin(folder);
  return {
    command: join(bins, name),
    args: rest.slice(1),
    mounts: [{ path: folder, isWritable: false }],
  };
}

/** Whether an option names the packages, so that the first argument is a program of theirs. */
function isNamed({ packages, rest }: Installer): boolean {
  return packages[0] !== rest[0];
}

const Dependencies = z.looseObject({ dependencies: z.record(z.string(), z.string()) });
const Manifest = z.looseObject({ bin: z.string().or(z.record(z.string(), z.string())).optional() });

/** The program of a package that npx would run. */
async function npmBin(folder: string): Promise<string> {
  const read = async (...path: string[]) =>
    JSON.parse(await Deno.readTextFile(join(folder, ...path, "package.json")));
  const [name = ""] = Object.keys(Dependencies.parse(await read()).dependencies);
  const { bin = {} } = Manifest.parse(await read("node_modules", name));
  const plain = name.replace(/^@[^/]+\//, "");
  if (typeof bin === "string" || Object.hasOwn(bin, plain)) return plain;
  const [first, ...others] = Object.keys(bin);
  if (first !== undefined && others.every((other) => bin[other] === bin[first])) return first;
  throw new Error(
    `the package ${name} has no program of its name: name one after --package=${name}`,
  );
}

async function installUv(
  installer: Installer,
  given: GroupCommand,
  context: InstallContext,
): Promise<InstalledProgram> {
  const { options, packages: [spec = ""], program, rest } = installer;
  const hash = createHash("sha256").update(JSON.stringify([options, spec])).digest("hex").slice(
    0,
    16,
  );
  const folder = join(given.env.UV_TOOL_DIR!, hash);
  const bins = join(folder, "bin");
  const name = isNamed(installer) ? rest[0] ?? "" : spec.replace(/(?:\[|@|[=<>!~ ]).*$/s, "");
  const isThere = await Deno.stat(join(bins, name)).then(() => true, () => false);
  // uv links a package's programs when everything else is done.
  if (!isThere) {
    const env = { ...given.env, UV_TOOL_DIR: folder, UV_TOOL_BIN_DIR: bins };
    const command = program.replace(/uvx(\.exe)?$/, "uv$1");
    const from = isNamed(installer) ? packageOnly(options) : options;
    const args = ["tool", "install", "--force", ...from, spec];
    await runInstaller({ command, args, env, cwd: given.cwd }, given, context);
  }
  const real = await Deno.realPath(join(bins, name)).catch(() => {
    throw new Error(`${spec} has no program named ${name}`);
  });
  return {
    command: real,
    args: rest.slice(1),
    mounts: [
      { path: folder, isWritable: false },
      ...await pythonMounts(real.replace(/[^/]+$/, "python")),
    ],
  };
}

/** The options of uvx without `--from`, which `uv tool install` takes as its argument. */
function packageOnly(options: readonly string[]): string[] {
  return options.filter((option, index) =>
    !/^--from(?:=|$)/.test(option) && options[index - 1] !== "--from"
  );
}

/** Runs an installer to its end; it is not killed while it writes. */
export async function runInstaller(
  line: GroupCommand,
  given: GroupCommand,
  { owner, installs, events, signal }: InstallContext,
): Promise<void> {
  const onInstall = (reason: string | undefined) => events.onInstall?.(reason);
  const install = await installs?.begin(given, { onInstall }, signal);
  const announced = await owner.announce(line.command);
  const output = new ProgramOutput();
  const onLine = (text: string) => {
    output.add(text);
    install?.wrote(text);
  };
  let pid: number | undefined;
  const finish = async () => {
    if (pid !== undefined) await endGroups([pid], ROLLBACK_MS);
    install?.end();
    await announced[Symbol.asyncDispose]();
  };
  let isLeft = false;
  try {
    signal?.throwIfAborted();
    const child = await startPiped(line);
    pid = child.pid;
    announced.started(pid);
    child.stdin.on("error", () => {});
    child.stdin.end();
    const lines = { maxBytes: LINE_BYTES, headBytes: LINE_BYTES, onLine, onLongLine: onLine };
    const read = [readLines(child.stdout, lines), readLines(child.stderr, lines)];
    const stuck = Promise.withResolvers<never>();
    install?.watch(pid, (reason) => stuck.reject(new Error(reason)));
    // An installer that goes on in the background frees the cache for others when it ends.
    void child.ended.then(() => install?.end());
    const { code } = await abortable(Promise.race([child.ended, stuck.promise]), signal);
    await Promise.all(read.map(({ ended }) => ended));
    if (code === 0) return;
    const why = explainingLine(output.lines);
    throw new Error(`the installer ended with code ${code}${why === undefined ? "" : `: ${why}`}`);
  } catch (error) {
    isLeft = signal?.aborted === true && install?.isActive === true && installs !== undefined;
    if (isLeft) installs!.linger(install!, finish);
    throw error;
  } finally {
    if (!isLeft) await finish();
  }
}
