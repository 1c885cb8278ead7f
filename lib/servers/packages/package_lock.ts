import type { OnAudit } from "../../core/access.ts";
import { abortable, inTurn } from "../../core/async.ts";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import { isolationOf, isProgram, type ServerSpec } from "../../core/server.ts";
import {
  type PackageOffer,
  PackageOffersRepository,
  type PackagePin,
  PackagePinsRepository,
  type PackageRelease,
  PackageTreesRepository,
  type PackageVersion,
} from "../../storage/packages_repository.ts";
import type { Store } from "../../storage/store.ts";
import { childEnv } from "../processes/process_group.ts";
import type { Installs } from "../processes/installs.ts";
import type { ProcessOwner } from "../processes/process_owner.ts";
import type { PooledServer } from "../server.ts";
import { TransportClosed, type TransportEvents } from "../transports/transport.ts";
import { findLocked, type LockedServer, lockFileOf } from "./lock_file.ts";
import { type PackageCommand, readPackageCommand } from "./package_command.ts";
import { differentTree, type PackageManager } from "./package_manager.ts";
import type { ToolPlace } from "./tool_run.ts";

const DAY_MS = 86_400_000;
const LOOKUPS_AT_ONCE = 3;

interface PackageLockOptions {
  store: Store;
  owner: ProcessOwner;
  installs: Installs;
  /** Releases younger than this are not pinned and not offered. */
  coolDownDays: number;
  fill(spec: ServerSpec): Promise<ServerSpec>;
  onAudit: OnAudit;
  now?: () => number;
}

type Program = Pick<ToolPlace, "cwd"> & {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  baseEnv: Record<string, string>;
  /** Takes secrets out of what the installer writes. */
  mask?: ((text: string) => string) | undefined;
};

type StartEvents = Pick<TransportEvents, "onInstall" | "onLog">;

/** Packages of one server, ready to be installed or looked up. */
interface Opened {
  command: PackageCommand;
  manager: PackageManager;
}

/** A pin with the update that waits for review, if there is one. */
export interface PinnedServer {
  pin: PackagePin;
  offer?: PackageOffer | undefined;
}

/** Has servers run the packages that were pinned when they first started, and nothing else. */
export class PackageLock {
  readonly #options: PackageLockOptions;
  readonly #pins: PackagePinsRepository;
  readonly #offers: PackageOffersRepository;
  readonly #trees: PackageTreesRepository;
  readonly #now: () => number;
  #known: { pins: PackagePin[]; offers: PackageOffer[] } = { pins: [], offers: [] };
  /** Each lookup starts a Node or uv; many servers can start at once. */
  readonly #lanes = Array.from({ length: LOOKUPS_AT_ONCE }, () => inTurn());
  #lane = 0;
  /** Refusals that the audit log has, so that retries do not repeat them. */
  readonly #refused = new Map<string, string>();

  constructor(options: PackageLockOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#pins = new PackagePinsRepository(options.store);
    this.#offers = new PackageOffersRepository(options.store);
    this.#trees = new PackageTreesRepository(options.store);
  }

  /** Reads what is stored; call it when the store has changed. */
  async load(): Promise<void> {
    const [pins, offers] = await Promise.all([this.#pins.values(), this.#offers.values()]);
    this.#known = { pins, offers };
  }

  /** Changes when a server has to restart with other packages. */
  stampOf(server: string): number | undefined {
    const times = this.#known.pins.flatMap((pin) =>
      pin.server === server ? pin.updatedAt ?? [] : []
    );
    return times.length === 0 ? undefined : Math.max(...times);
  }

  /** The pin for the entry that a server has now; undefined if its packages are not pinned. */
  pinOf(server: PooledServer): PinnedServer | undefined {
    const command = commandOf(server.spec);
    if (!command) return undefined;
    const isIt = (each: { server: string; request: string }) =>
      each.server === server.name && each.request === command.request;
    const pin = this.#known.pins.find(isIt);
    return pin && { pin, offer: this.#known.offers.find((each) => isIt(each) && !each.isRefused) };
  }

  /**
   * The command line that runs exactly the pinned packages, once they are installed. Pins them at the
   * first start. Throws PACKAGE_CHANGED if something else is published or installed in their place.
   */
  async prepare<P extends Program>(
    server: PooledServer,
    program: P,
    events: StartEvents,
    signal: AbortSignal,
  ): Promise<P> {
    const { spec } = server;
    if (!isProgram(spec) || spec.pin === false) return program;
    const opened = await this.#open(server, program, events, signal);
    if (!opened) return program;
    try {
      const onInstall = (reason: string | undefined) => events.onInstall?.(reason);
      const words = await this.#words(server, opened, onInstall, signal);
      if (words === undefined) return program;
      const [command = "", ...args] = words;
      return { ...program, command, args };
    } catch (error) {
      signal.throwIfAborted();
      this.#noteRefusal(server.name, error);
      if (error instanceof GatewayError && error.code !== "NOT_FOUND") throw error;
      const { mask = (text: string) => text } = program;
      const message = mask(`Cannot start server "${server.name}": ${errorMessage(error)}`);
      throw new TransportClosed("lost", message, { cause: error });
    }
  }

  async #words(
    server: PooledServer,
    { command, manager }: Opened,
    onInstall: (reason: string | undefined) => void,
    signal: AbortSignal,
  ): Promise<string[] | undefined> {
    const { release } = server;
    const wanted = command.wanted.map(({ text }) => text);
    const locked = release ? undefined : await findLocked(server.name, server.source, wanted);
    const pin = await this.#pins.find([server.name, command.request]);
    const known: PackageRelease | undefined = release ??
      (locked ? { packages: locked.packages, tree: "" } : pin?.value);
    if (await manager.isProvided(known)) return known && manager.runWords(known);
    if (!known) {
      onInstall(`Looking up ${wanted.join(", ")} to pin its version`);
      try {
        const lane = this.#lanes[this.#lane++ % LOOKUPS_AT_ONCE]!;
        const packages = await abortable(lane(() => this.#first(manager)), signal);
        const pinned = await this.#pin(server.name, command, { packages, tree: "" }, manager);
        return manager.runWords(pinned);
      } finally {
        onInstall(undefined);
      }
    }
    const text = locked ? textOf(locked.tree) : await this.#treeOf(known);
    if (locked && !pin) await this.#pin(server.name, command, known, manager, text);
    else await this.#install(manager, known, text);
    return manager.runWords(known);
  }

  /** A tree that is no longer stored is compared by its hash. */
  async #install(manager: PackageManager, known: PackageRelease, text: string | undefined) {
    const installed = await manager.install(known, text);
    if (known.tree === "" || manager.treeHash(installed) === known.tree) return;
    throw differentTree(known, "it was installed with other packages");
  }

  /** Offline, what has run so far is pinned. */
  async #first(manager: PackageManager): Promise<PackageVersion[]> {
    try {
      const found = await manager.newest(this.#coolDown());
      return found.map(({ name, version, integrity }) => ({ name, version, integrity }));
    } catch (error) {
      const cached = await manager.cached();
      if (cached) return cached;
      throw error;
    }
  }

  async #pin(
    server: string,
    command: PackageCommand,
    { packages }: PackageRelease,
    manager: PackageManager,
    text?: string,
  ): Promise<PackageRelease> {
    const tree = await this.#keep(manager, await manager.install({ packages, tree: "" }, text));
    const now = this.#now();
    const pin: PackagePin = {
      server,
      request: command.request,
      wanted: command.wanted.map(({ text }) => text),
      installer: command.installer.name,
      packages,
      tree,
      pinnedAt: now,
      checkedAt: now,
    };
    try {
      await this.#pins.save(pin);
    } catch (error) {
      // Another start was first: what it pinned runs.
      const first = await this.#pins.find([server, command.request]);
      if (!first) throw error;
      await this.#install(manager, first.value, await this.#treeOf(first.value));
      return first.value;
    }
    this.#note("package.pin", server, undefined, packages);
    return pin;
  }

  /** Looks for a newer release of what an entry names, and keeps it for review. */
  async check(server: PooledServer, signal: AbortSignal): Promise<PackageOffer | undefined> {
    const { opened, pin, versionstamp } = await this.#pinned(server, signal);
    const { manager } = opened;
    const found = await manager.newest(this.#coolDown(), pin.packages);
    await this.#pins.save({ ...pin, checkedAt: this.#now() }, versionstamp);
    const id = [pin.server, pin.request];
    const offer = await this.#offers.find(id);
    if (versionsOf(found) === versionsOf(pin.packages)) {
      if (offer) await this.#offers.delete(id);
      try {
        await manager.checkPublished(pin);
      } catch (error) {
        this.#noteRefusal(server.name, error);
        throw error;
      }
      return undefined;
    }
    if (offer && versionsOf(found) === versionsOf(offer.value.packages)) return offer.value;
    const times = found.flatMap(({ publishedAt }) => publishedAt ?? []);
    const fresh: PackageOffer = {
      server: pin.server,
      request: pin.request,
      packages: found.map(({ name, version, integrity }) => ({ name, version, integrity })),
      tree: "",
      foundAt: this.#now(),
      ...(times.length === 0 ? {} : { publishedAt: Math.max(...times) }),
    };
    await this.#offers.replace(fresh);
    return fresh;
  }

  /** Installs a release beside the pinned one; gives it with its tree. */
  async install(
    server: PooledServer,
    release: PackageRelease,
    signal: AbortSignal,
  ): Promise<PackageRelease> {
    const { opened: { manager } } = await this.#pinned(server, signal);
    const text = await manager.install(release, await this.#treeOf(release));
    return { packages: release.packages, tree: await this.#keep(manager, text) };
  }

  saveOffer(offer: PackageOffer): Promise<void> {
    return this.#offers.replace(offer);
  }

  /** Runs the offered release from the next start on. */
  async accept(server: PooledServer, { packages, tree, request }: PackageOffer): Promise<void> {
    const { value: pin, versionstamp } = await this.#pins.resolve([server.name, request]);
    const now = this.#now();
    const updated = { ...pin, packages, tree, pinnedAt: now, updatedAt: now, checkedAt: now };
    await this.#pins.save(updated, versionstamp);
    await this.#offers.delete([server.name, request]);
    this.#note("package.update", server.name, pin.packages, packages);
  }

  async refuse(offer: PackageOffer): Promise<void> {
    const { tools: _, ...rest } = offer;
    await this.#offers.replace({ ...rest, isRefused: true });
    this.#note("package.refuse", offer.server, undefined, offer.packages);
  }

  /** The next start pins what the registry has then. */
  async forget(server: string): Promise<void> {
    const pins = await this.take(server);
    for (const { packages } of pins) this.#note("package.forget", server, packages);
  }

  /** Removes and returns what is pinned for a server, so that it can be restored. */
  async take(server: string): Promise<PackagePin[]> {
    const pins = await this.#pins.values({ under: [server] });
    for (const { request } of pins) {
      await this.#pins.delete([server, request]);
      await this.#offers.delete([server, request]);
    }
    this.#refused.delete(server);
    return pins;
  }

  async putBack(pins: readonly PackagePin[]): Promise<void> {
    for (const pin of pins) await this.#pins.replace(pin);
  }

  async lockFile(servers: readonly PooledServer[]) {
    await this.load();
    const pins = servers.flatMap((server) => this.pinOf(server)?.pin ?? []);
    return lockFileOf(
      await Promise.all(pins.map(async (pin) => ({ pin, tree: await this.#treeOf(pin) }))),
    );
  }

  /** Looks for updates of servers that were not looked at for a day, and removes unused trees. */
  async checkOld(
    servers: readonly PooledServer[],
    signal: AbortSignal,
    onError: (server: string, error: unknown) => void,
  ): Promise<void> {
    await this.load();
    for (const server of servers) {
      const pinned = this.pinOf(server);
      const isOff = server.isPaused || server.spec.disabled;
      if (!pinned || isOff || this.#now() - pinned.pin.checkedAt < DAY_MS) continue;
      await this.check(server, signal).catch((error) => onError(server.name, error));
      if (signal.aborted) return;
    }
    await this.load();
    const used = new Set([...this.#known.pins, ...this.#known.offers].map(({ tree }) => tree));
    for await (const { value: { hash, savedAt } } of this.#trees.list()) {
      // One that was saved a moment ago is about to be pinned.
      if (!used.has(hash) && this.#now() - savedAt > DAY_MS) await this.#trees.delete(hash);
    }
  }

  /** The program as it was pinned, to find its installed files; unchanged if it is not pinned. */
  async pinnedProgram<P extends Program>(server: PooledServer, program: P): Promise<P> {
    const pinned = this.pinOf(server);
    const events = { onLog: () => {} };
    const { signal } = new AbortController();
    const opened = pinned && await this.#open(server, program, events, signal);
    if (!opened) return program;
    const [command = "", ...args] = opened.manager.runWords(pinned.pin);
    return { ...program, command, args };
  }

  async #pinned(server: PooledServer, signal: AbortSignal) {
    const spec = await this.#options.fill(server.spec);
    const events = { onLog: () => {} };
    const opened = isProgram(spec) && spec.pin !== false
      ? await this.#open(server, { ...spec, baseEnv: Deno.env.toObject() }, events, signal)
      : undefined;
    const found = opened && await this.#pins.find([server.name, opened.command.request]);
    if (found) return { opened, pin: found.value, versionstamp: found.versionstamp };
    throw new GatewayError("NOT_FOUND", {
      message: `Server "${server.name}" runs no pinned package`,
      recoverySteps: ["See which are pinned with `quartermaster package list`"],
    });
  }

  async #open(
    server: PooledServer,
    { command, args, env: declared, baseEnv, cwd, mask = (text) => text }: Program,
    { onInstall, onLog }: StartEvents,
    signal: AbortSignal,
  ): Promise<Opened | undefined> {
    const { owner, installs } = this.#options;
    // Which packages are wanted is read from the entry as it is written, without its secrets.
    const wanted = commandOf(server.spec);
    const filled = readPackageCommand([command, ...args], declared);
    if (!wanted || !filled) return undefined;
    const found = { ...filled, request: wanted.request };
    const own = childEnv({ baseEnv, declared, markerEnv: owner.markerEnv });
    const place: ToolPlace = {
      ...{ owner, installs, signal },
      ...isolationOf(server.spec) ? await isolatedPlace(own) : { env: own, cwd },
      onInstall: (reason) => onInstall?.(reason),
      onLine: (line) => onLog(mask(line), "stderr"),
    };
    return { command: found, manager: await managerOf(found, place) };
  }

  #coolDown() {
    return { ms: this.#options.coolDownDays * DAY_MS, now: this.#now() };
  }

  async #treeOf({ tree }: Pick<PackageRelease, "tree">): Promise<string | undefined> {
    return tree === "" ? undefined : (await this.#trees.find(tree))?.value.text;
  }

  async #keep(manager: PackageManager, text: string): Promise<string> {
    const hash = manager.treeHash(text);
    if (hash !== "") await this.#trees.replace({ hash, text, savedAt: this.#now() });
    return hash;
  }

  #noteRefusal(server: string, error: unknown): void {
    if (!(error instanceof GatewayError) || error.code !== "PACKAGE_CHANGED") return;
    if (this.#refused.get(server) === error.message) return;
    this.#refused.set(server, error.message);
    this.#note("package.changed", server, undefined, { reason: error.message });
  }

  #note(action: string, subject: string, before?: unknown, after?: unknown): void {
    this.#options.onAudit({ action, subject, before, after });
  }
}

/** Of an entry as it is written: which packages it names is never a secret. */
function commandOf(spec: ServerSpec): PackageCommand | undefined {
  if (!isProgram(spec) || spec.pin === false) return undefined;
  return readPackageCommand([spec.command, ...spec.args], spec.env);
}

/** Where packages of an isolated server are installed: out of reach of what its project has. */
async function isolatedPlace(env: Record<string, string>) {
  const { installEnv } = await import("../processes/isolation/packages.ts");
  return { env: installEnv(env), cwd: "/", isIsolated: true };
}

function textOf(tree: LockedServer["tree"]): string | undefined {
  return typeof tree === "object" ? JSON.stringify(tree) : tree;
}

function versionsOf(packages: readonly PackageVersion[]): string {
  return packages.map(({ name, version }) => `${name}@${version}`).join("\n");
}

/** Loaded with the first server that runs a package. */
async function managerOf(command: PackageCommand, place: ToolPlace): Promise<PackageManager> {
  if (command.installer.family === "npm") {
    const { NpmPackages } = await import("./npm_packages.ts");
    return new NpmPackages(command, place);
  }
  const { UvPackages } = await import("./uv_packages.ts");
  return new UvPackages(command, place);
}
