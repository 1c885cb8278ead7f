import type { Isolation } from "../../../core/server.ts";
import type { Installer } from "../installer.ts";
import type { Mount } from "./mounts.ts";

/** What programs may ask about the machine: nothing that identifies its user. */
const SYSTEM_FACTS = "hostname,osRelease,osUptime,homedir,uid,gid,cpus,systemMemoryInfo";

export interface PermittedProgram {
  installer: Installer;
  isolation: Isolation;
  mounts: readonly Mount[];
  hidden: readonly string[];
  /** Deno's folder for packages, and the program's home. */
  denoDir: string;
  home: string;
}

/** How `deno` names the program of an npm package. */
export function denoSpecifier({ family, packages, rest }: Installer): string {
  const [spec = "", ...others] = packages;
  if (
    family !== "npm" || others.length > 0 || !/^(?:@[\w.~-]+\/)?[\w.~-]+(?:@[^:/]+)?$/.test(spec)
  ) {
    throw new Error("without namespaces, only one package from the npm registry can be isolated");
  }
  return packages[0] === rest[0] ? `npm:${spec}` : `npm:${spec}/${rest[0]}`;
}

/**
 * The arguments of `deno` that run an npm package with permissions, where there are no namespaces. The
 * program sees what other processes do not hide, but not their memory or environment.
 */
export function denoArgs(program: PermittedProgram): string[] {
  const { installer, isolation, mounts, hidden, denoDir, home } = program;
  const list = (name: string, values: readonly string[]) => {
    const odd = values.find((value) => value.includes(","));
    if (odd !== undefined) {
      throw new Error(
        `"${odd}" has a comma, which Deno's permissions cannot name: install bubblewrap, or rename it`,
      );
    }
    return values.length === 0 ? [] : [`--${name}=${values.join(",")}`];
  };
  const writable = mounts.filter(({ isWritable }) => isWritable).map(({ path }) => path);
  return [
    ...["run", "--quiet", "--no-prompt", "--cached-only", "--no-config", "--no-lock"],
    // It has only the variables that it was given.
    ...["--node-modules-dir=none", "--allow-env", `--allow-sys=${SYSTEM_FACTS}`],
    ...list("allow-read", [...mounts.map(({ path }) => path), home, `${denoDir}/npm`]),
    ...list("allow-write", [...writable, home]),
    ...list("allow-net", isolation.net ?? []),
    ...list("deny-read", hidden),
    ...list("deny-write", hidden),
    denoSpecifier(installer),
    ...installer.rest.slice(1),
  ];
}

const NODE_IMAGE = "docker.io/library/node:22-slim";

export interface ContainerProgram {
  name: string;
  isolation: Isolation;
  command: string;
  args: readonly string[];
  /** Whether its packages were installed by npx, so that Node runs it. */
  isNode: boolean;
  /** Names of the variables it gets. */
  variables: readonly string[];
  /** The working folder, if it is shown. */
  cwd: string | undefined;
  mounts: readonly Mount[];
  /** What the mounts must not show. */
  covered: readonly { path: string; isFolder: boolean }[];
}

/** The arguments of podman or docker that run a program in a container. */
export function containerArgs(program: ContainerProgram): string[] {
  const { name, isolation, command, args, isNode, variables, cwd, mounts, covered } = program;
  const { image = isNode ? NODE_IMAGE : undefined, net = [] } = isolation;
  if (image === undefined) {
    throw new Error(
      'its isolation needs an "image" that has the program, such as "python:3.12-slim"',
    );
  }
  if (net.length > 0) {
    throw new Error('a container cannot be limited to hosts: remove "net", or use a sandbox');
  }
  const volume = (
    from: string,
    to: string,
    mode: string,
  ) => ["--mount", `type=bind,"src=${from}","dst=${to}"${mode}`];
  return [
    ...["run", "--rm", "--interactive", "--init", "--name", name, "--label", "quartermaster"],
    ...["--network", "none", "--read-only", "--tmpfs", "/tmp", "--env", "HOME=/tmp"],
    ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "512"],
    ...mounts.flatMap(({ path, isWritable }) => volume(path, path, isWritable ? "" : ",readonly")),
    ...covered.flatMap(({ path, isFolder }) =>
      isFolder ? ["--tmpfs", path] : volume("/dev/null", path, ",readonly")
    ),
    // By name only: other programs can read the values on a command line.
    ...variables.flatMap((variable) => ["--env", variable]),
    ...["--workdir", cwd ?? "/tmp"],
    ...[image, ...isNode ? ["node", command] : [command], ...args],
  ];
}
