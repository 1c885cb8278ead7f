import { tmpdir } from "node:os";
import {
  isProgram,
  type ProgramSpec,
  type ServerSource,
  type ServerSpec,
} from "../../core/server.ts";
import { findInstaller } from "./installer.ts";
import { denoSpecifier } from "./isolation/fallbacks.ts";

/** Options of npx that change neither which package runs nor where it comes from. */
const PLAIN_OPTION = /^(?:-y|--yes|-q|--quiet|--package=.*)$/;

const TO_RUN =
  'write it as "command": "npx", "args": ["-y", "PACKAGE@1.2.3"], or use a server with a URL';

/**
 * Why Deno Deploy cannot run a server's program; undefined if it can. Nothing can be relied on there but
 * the Deno that runs this app, so a program has to be a package from npm.
 *
 * Decided by the entry as it is written, before any secret is filled in: whoever may set a secret must
 * not choose what runs. For the same reason it has to be in the file that was deployed.
 */
export function deployRefusal(
  { spec, source }: { spec: ServerSpec; source: ServerSource },
): string | undefined {
  if (!isProgram(spec)) return undefined;
  const place = placeRefusal();
  if (place !== undefined) return `this platform cannot run programs: ${place}`;
  if (source.kind !== "file") {
    return "Deno Deploy only runs programs of the deployed .mcp.json: add it there and deploy";
  }
  const [command = "", ...args] = npxWords(spec);
  const installer = findInstaller([command, ...args]);
  if (installer?.family !== "npm") {
    return `Deno Deploy has no ${spec.command.split(/[/\\]/).at(-1)}, only npm packages: ${TO_RUN}`;
  }
  const odd = installer.options.find((option) => !PLAIN_OPTION.test(option));
  if (odd !== undefined) return `on Deno Deploy, npx cannot have the option ${odd}: ${TO_RUN}`;
  if (spec.isolation !== undefined && spec.isolation.kind !== "sandbox") {
    const { kind } = spec.isolation;
    return `on Deno Deploy, every program has the isolation "sandbox", not "${kind}"`;
  }
  try {
    denoSpecifier(installer);
    return undefined;
  } catch {
    return `Deno Deploy runs one package from the npm registry, named in the entry: ${TO_RUN}`;
  }
}

/** What this process lacks to run any program. */
function placeRefusal(): string | undefined {
  // Queried first: without a permission, Deno would prompt on the terminal.
  const lacks = (name: "run" | "write") => {
    const descriptor = name === "run" ? { name } as const : { name, path: tmpdir() } as const;
    return Deno.permissions.querySync(descriptor).state !== "granted";
  };
  if (lacks("run")) return "the app has no permission to run Deno";
  if (lacks("write")) return "the app has no permission to write to a temporary folder";
  try {
    Deno.removeSync(Deno.makeTempDirSync({ prefix: "quartermaster_" }));
    return undefined;
  } catch {
    return "there is no temporary folder for packages";
  }
}

type Program = Pick<ProgramSpec, "command" | "args" | "isolation"> & {
  baseEnv: Record<string, string>;
};

/**
 * The program as Deno Deploy runs it: isolated by the permissions of Deno, its package in the temporary
 * folder, which may be the only one that can be written to.
 */
export function deployedProgram<P extends Program>(program: P): P {
  const [command = "", ...args] = npxWords(program);
  const baseEnv = { ...program.baseEnv, HOME: tmpdir() };
  return {
    ...program,
    command,
    args,
    baseEnv,
    isolation: { ...program.isolation, kind: "sandbox" },
  };
}

/** `deno run npm:PACKAGE`, in the words of npx. Its permissions are those of its isolation, as for npx. */
function npxWords({ command, args }: Pick<ProgramSpec, "command" | "args">): string[] {
  if (command !== "deno" || args[0] !== "run") return [command, ...args];
  const at = args.findIndex((arg, index) => index > 0 && !arg.startsWith("-"));
  const [, name, bin] = /^npm:\/?((?:@[^/]+\/)?[^/]+)(?:\/([^/]+))?$/.exec(args[at] ?? "") ?? [];
  if (name === undefined) return [command, ...args];
  const words = bin === undefined ? [name] : [`--package=${name}`, bin];
  return ["npx", "-y", ...words, ...args.slice(at + 1)];
}
