import { dirname, join } from "node:path";
import {
  findOnPath,
  hiddenPlaces,
  isInside,
  isShown,
  type Mount,
  PRIVATE_FOLDER,
  SYSTEM_FILES,
  SYSTEM_FOLDERS,
} from "./mounts.ts";

/** The home folder inside: empty, and gone with the program. */
const PRIVATE_HOME = `${PRIVATE_FOLDER}/home`;
/** Where the gateway's proxy is inside. */
const PROXY_SOCKET = `${PRIVATE_FOLDER}/proxy.sock`;

const SEPARATE = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"];
/** Keeps a program from making namespaces of its own, in which it had capabilities. bwrap 0.8 or newer. */
const NO_NESTING = ["--unshare-user", "--disable-userns"];
/**
 * Read-only /proc: root without any capability may still write the kernel's settings there, and with
 * them start programs outside.
 */
const OWN_FOLDERS = [
  ...["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"],
  ...["--tmpfs", "/tmp", "--tmpfs", PRIVATE_FOLDER, "--dir", PRIVATE_HOME],
];

export interface Bubblewrap {
  command: string;
  flags: readonly string[];
}

/** How bubblewrap works here, found out by running it; or why it does not. */
export async function tryBubblewrap(path: string): Promise<Bubblewrap | { problem: string }> {
  if (Deno.build.os !== "linux") return { problem: "sandboxes need Linux" };
  const command = await findOnPath("bwrap", path);
  if (command === undefined) return { problem: "bubblewrap (bwrap) is not installed" };
  let problem = "";
  for (const more of [NO_NESTING, []]) {
    const flags = [...SEPARATE, ...more, ...await systemMounts(), ...OWN_FOLDERS];
    const { success, stderr } = await new Deno.Command(command, {
      args: [...flags, "--", "sh", "-c", ":"],
      clearEnv: true,
      env: { PATH: path },
      stdin: "null",
      stdout: "null",
    }).output();
    if (success) return { command, flags };
    problem = new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "";
  }
  return { problem: `this machine refuses to make namespaces (${problem})` };
}

async function systemMounts(): Promise<string[]> {
  const folders = await Promise.all(SYSTEM_FOLDERS.map(async (path) => {
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info === undefined) return [];
    return info.isSymlink
      ? ["--symlink", await Deno.readLink(path), path]
      : ["--ro-bind", path, path];
  }));
  return [...folders.flat(), ...SYSTEM_FILES.flatMap((path) => ["--ro-bind-try", path, path])];
}

export interface SandboxedProgram {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string | undefined;
  mounts: readonly Mount[];
  /** Folders and files of the gateway, which no mount shows. */
  hidden: readonly string[];
  /** The socket of the proxy, and the program that takes connections to it from inside. */
  egress?: { socket: string; forwarder: string } | undefined;
}

/** The command line that runs a program in a sandbox, and the environment for it. */
export async function sandboxed({ command: bwrap, flags }: Bubblewrap, program: SandboxedProgram) {
  const { command, args, env, cwd, mounts, hidden, egress } = program;
  // A folder before what is in it, and the right to write last.
  const inOrder = mounts.toSorted((a, b) =>
    a.path.length - b.path.length || Number(a.isWritable) - Number(b.isWritable)
  );
  const system = SYSTEM_FOLDERS.map((path) => ({ path, isWritable: false }));
  const covered = await hiddenPlaces([...system, ...mounts], hidden);
  // The loader would heed these outside too, where bwrap starts.
  const loader = Object.entries(env).filter(([name]) => name.startsWith("LD_"));
  const inside = egress ? [egress.forwarder, ...forwarding(command, args)] : [command, ...args];
  return {
    command: bwrap,
    args: [
      ...flags,
      ...inOrder.flatMap(({ path, isWritable }) => {
        return [isWritable ? "--bind" : "--ro-bind", path, path];
      }),
      ...covered.flatMap(({ path, isFolder }) =>
        isFolder ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path]
      ),
      ...egress ? ["--ro-bind", egress.socket, PROXY_SOCKET] : [],
      ...loader.flatMap(([name, value]) => ["--setenv", name, value]),
      ...["--chdir", isShown(cwd, mounts) ? cwd : PRIVATE_HOME, "--", ...inside],
    ],
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("LD_"))),
  };
}

/**
 * Runs inside: only loopback exists there, so what programs send to the proxy that HTTP_PROXY names goes
 * on to the gateway through a socket file.
 */
const FORWARDER = `
const [path, command, ...args] = Deno.args;
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const proxy = "http://127.0.0.1:" + listener.addr.port;
const env = { NODE_USE_ENV_PROXY: "1" };
for (const name of ["HTTP_PROXY", "HTTPS_PROXY"]) env[name] = env[name.toLowerCase()] = proxy;
const pipe = (from, to) => from.readable.pipeTo(to.writable);
const forward = async (near) => {
  const far = await Deno.connect({ transport: "unix", path });
  await Promise.all([pipe(near, far), pipe(far, near)]);
};
(async () => { for await (const near of listener) forward(near).catch(() => {}); })();
const io = "inherit";
const child = new Deno.Command(command, { args, env, stdin: io, stdout: io, stderr: io }).spawn();
Deno.exit((await child.status).code);
`;

function forwarding(command: string, args: readonly string[]): string[] {
  return ["eval", "--no-config", "--no-lock", FORWARDER, PROXY_SOCKET, command, ...args];
}

const CACHES = /^(?:DENO_DIR|NPM_CONFIG_CACHE|UV_CACHE_DIR|XDG_\w+)$/i;
const CERTIFICATES = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"];

/** The environment inside: what the entry declares, and no way to folders that do not exist there. */
export function sandboxEnv(
  env: Record<string, string>,
  declared: Record<string, string>,
): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => name in declared || !CACHES.test(name));
  return { ...Object.fromEntries(kept), HOME: PRIVATE_HOME, TMPDIR: "/tmp", ...declared };
}

/** The files of certificates that programs are told to trust. */
export function certificateMounts(env: Record<string, string>): Promise<Mount[]> {
  return existing(CERTIFICATES.flatMap((name) => env[name] ? [env[name]] : []));
}

/**
 * What a Python environment needs besides itself: the installation that its interpreter is a link to.
 * Not the whole folder around it, which can be `~/.local`.
 */
export async function pythonMounts(interpreter: string): Promise<Mount[]> {
  const folder = dirname(dirname(await Deno.realPath(interpreter)));
  if (SYSTEM_FOLDERS.some((system) => isInside(folder, system))) return [];
  return await existing(["bin", "lib", "lib64"].map((name) => join(folder, name)));
}

async function existing(paths: readonly string[]): Promise<Mount[]> {
  const found = await Promise.all(paths.map((path) => Deno.stat(path).catch(() => undefined)));
  return paths.filter((_, index) => found[index]).map((path) => ({ path, isWritable: false }));
}
