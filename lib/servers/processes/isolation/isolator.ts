import type { Isolation } from "../../../core/server.ts";
import { AddressGuard, mayBeThisMachine } from "../../transports/address_guard.ts";
import { findInstaller, type Installer } from "../installer.ts";
import type { GroupCommand } from "../process_group.ts";
import { RepeatedWarning } from "../../transports/messages.ts";
import { EgressProxy } from "./egress_proxy.ts";
import { containerArgs, denoArgs, denoSpecifier } from "./fallbacks.ts";
import {
  findOnPath,
  hiddenPlaces,
  isInside,
  isShown,
  type Mount,
  namedMounts,
  programFiles,
  workingMount,
} from "./mounts.ts";
import { type InstallContext, installEnv, installFirst, runInstaller } from "./packages.ts";
import {
  type Bubblewrap,
  certificateMounts,
  sandboxed,
  sandboxEnv,
  tryBubblewrap,
} from "./sandbox.ts";

const TO_ALLOW =
  "install bubblewrap and allow user namespaces, or run the gateway on a machine that " +
  'has them, or set the kind of its isolation to "none"';
const STOP_MS = 10_000;

/** A program as its entry wants it, and how to isolate it. */
export interface IsolatedEntry extends GroupCommand {
  isolation: Isolation;
  /** The variables that the entry names. */
  declared: Record<string, string>;
  /** The gateway's own environment: where its own helpers are found. */
  baseEnv: Record<string, string>;
}

/** What to start instead of the program, and what to release when it has ended. */
export interface IsolatedProgram extends GroupCommand, AsyncDisposable {}

interface IsolatorOptions {
  /** Folders and files of the gateway, which no program may see. */
  hidden: readonly string[];
  /** Whether names may lead into private networks. */
  allowPrivate: boolean;
  tryBubblewrap?: typeof tryBubblewrap;
}

/** Runs programs apart from the rest of the machine. */
export class Isolator {
  readonly #options: IsolatorOptions;
  #bubblewrap: Bubblewrap | undefined;

  constructor(options: IsolatorOptions) {
    this.#options = options;
  }

  /** Installs a program's packages, then returns how to run it; throws if this machine cannot isolate it. */
  async isolate(entry: IsolatedEntry, context: InstallContext): Promise<IsolatedProgram> {
    const installer = findInstaller([entry.command, ...entry.args]);
    if (entry.isolation.kind === "container") return await this.#contain(entry, installer, context);
    const found = await this.#findBubblewrap(entry.baseEnv.PATH ?? "");
    if (!("problem" in found)) return await this.#sandbox(found, entry, installer, context);
    if (installer?.family !== "npm") {
      throw new Error(`it cannot be isolated: ${found.problem}: ${TO_ALLOW}`);
    }
    return await this.#permit(entry, installer, context, found.problem);
  }

  /** How sandboxes work here. What fails is tried again: it may be installed meanwhile. */
  async #findBubblewrap(path: string): Promise<Bubblewrap | { problem: string }> {
    if (this.#bubblewrap) return this.#bubblewrap;
    const found = await (this.#options.tryBubblewrap ?? tryBubblewrap)(path);
    if (!("problem" in found)) this.#bubblewrap = found;
    return found;
  }

  async #sandbox(
    bubblewrap: Bubblewrap,
    entry: IsolatedEntry,
    installer: Installer | undefined,
    context: InstallContext,
  ): Promise<IsolatedProgram> {
    await using stack = new AsyncDisposableStack();
    const { isolation: { net = [] }, declared, baseEnv } = entry;
    const shared = await this.#sharedMounts(entry);
    const { command, args, mounts } = installer
      ? await installFirst(installer, entry, context)
      : { command: entry.command, args: entry.args, mounts: [] };
    const env = sandboxEnv({ ...entry.env, ...installer?.env }, declared);
    const files = await programFiles(command, env, entry.cwd);
    const read = await certificateMounts(env);
    let egress: { socket: string; forwarder: string } | undefined;
    if (net.length > 0) {
      // What is on this machine is reached through the proxy too, if it is listed.
      const isLocal = net.some((host) => mayBeThisMachine(host.replace(/:\d+$/, "")));
      env.NO_PROXY = env.no_proxy = isLocal ? "" : "localhost,127.0.0.1,::1";
      const proxy = stack.use(await this.#openProxy(net, context));
      const forwarder = Deno.execPath();
      egress = { socket: proxy.socket, forwarder };
      files.push(...await programFiles(forwarder, baseEnv));
    }
    const folders = [...shared, ...mounts, ...read];
    const others = files.filter((file) => !folders.some(({ path }) => isInside(file, path)));
    const line = await sandboxed(bubblewrap, {
      command,
      args,
      env,
      cwd: entry.cwd,
      mounts: [...folders, ...others.map((path) => ({ path, isWritable: false }))],
      hidden: this.#options.hidden,
      egress,
    });
    return isolated(line, stack.move());
  }

  /** What an entry lets its program see. */
  async #sharedMounts({ isolation, cwd, env }: IsolatedEntry): Promise<Mount[]> {
    const home = env.HOME ?? "/";
    const working = await workingMount(cwd, home, this.#options.hidden);
    return [...working, ...await namedMounts(isolation, home)];
  }

  #openProxy(hosts: readonly string[], { events }: InstallContext): Promise<EgressProxy> {
    const warning = new RepeatedWarning(
      (text) => events.onLog(text, "warning"),
      (count) => `Refused ${count} more connections to other hosts`,
    );
    const guard = this.#options.allowPrivate ? undefined : new AddressGuard();
    return EgressProxy.open({
      hosts,
      guard,
      onRefused: (message) => warning.report(`Refused a connection: ${message}`),
    });
  }

  async #permit(
    entry: IsolatedEntry,
    installer: Installer,
    context: InstallContext,
    problem: string,
  ): Promise<IsolatedProgram> {
    await using stack = new AsyncDisposableStack();
    const deno = Deno.execPath();
    const denoDir = installEnv(entry.env).DENO_DIR!;
    const specifier = denoSpecifier(installer);
    const mounts = await this.#sharedMounts(entry);
    const home = await Deno.makeTempDir({ prefix: "quartermaster_home_" });
    stack.defer(() => Deno.remove(home, { recursive: true }).catch(() => {}));
    const env = { ...entry.env, ...installer.env, HOME: home, TMPDIR: home, DENO_DIR: denoDir };
    const cache = ["cache", "--quiet", "--no-config", "--no-lock", "--node-modules-dir=none"];
    const install = { command: deno, args: [...cache, specifier], env, cwd: "/" };
    context.events.onInstall?.(`Deno is installing ${specifier}`);
    await runInstaller(install, install, context);
    context.events.onInstall?.(undefined);
    context.events.onLog(
      `Runs as \`deno run ${specifier}\` with permissions instead of in a sandbox: ${problem}`,
      "warning",
    );
    const { isolation } = entry;
    const { hidden } = this.#options;
    const args = denoArgs({ installer, isolation, mounts, hidden, denoDir, home });
    const cwd = isShown(entry.cwd, mounts) ? entry.cwd : home;
    return isolated({ command: deno, args, env, cwd }, stack.move());
  }

  async #contain(
    entry: IsolatedEntry,
    installer: Installer | undefined,
    context: InstallContext,
  ): Promise<IsolatedProgram> {
    await using stack = new AsyncDisposableStack();
    const { isolation, declared, baseEnv, cwd } = entry;
    const engine = await findOnPath("podman", baseEnv.PATH ?? "") ??
      await findOnPath("docker", baseEnv.PATH ?? "");
    if (engine === undefined) {
      throw new Error(
        "it needs podman or docker, and neither is installed: install one, or use a sandbox",
      );
    }
    if (installer && installer.name !== "npx") {
      throw new Error(
        `${installer.name} cannot be run in a container: use npx, or a program of the image`,
      );
    }
    const shared = await this.#sharedMounts(entry);
    const installed = installer && await installFirst(installer, entry, context);
    const mounts = [...shared, ...installed?.mounts ?? []];
    const name = `quartermaster-${crypto.randomUUID()}`;
    const args = containerArgs({
      name,
      isolation,
      command: installed ? await Deno.realPath(installed.command) : entry.command,
      args: installed?.args ?? entry.args,
      isNode: installed !== undefined,
      variables: Object.keys(declared),
      cwd: isShown(cwd, mounts) ? cwd : undefined,
      mounts,
      covered: await hiddenPlaces(mounts, this.#options.hidden),
    });
    // The end of the engine's command line does not always end its container.
    stack.defer(async () => {
      const end = new Deno.Command(engine, {
        args: ["rm", "--force", name],
        stdin: "null",
        stdout: "null",
        stderr: "null",
        signal: AbortSignal.timeout(STOP_MS),
      });
      await end.output().catch(() => {});
    });
    return isolated({ command: engine, args, env: entry.env }, stack.move());
  }
}

function isolated(line: GroupCommand, stack: AsyncDisposableStack): IsolatedProgram {
  return { ...line, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
