import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../../core/errors.ts";
import { abortable } from "../../core/async.ts";
import {
  findInstaller,
  type Installer,
  isInstallerProcess,
  isLocked,
  npxFolder,
  npxFolderState,
  packageCache,
  removeNpxFolder,
  type Surroundings,
} from "./installer.ts";
import { listCommands, type ProcessCommand, surroundingsOf } from "./process_group.ts";

/** In ms. */
const INSTALL_TIMINGS = {
  /** How often an installer is checked: the first and the longest interval. */
  firstLook: 150,
  look: 1_000,
  /** An installer that uses no CPU time and prints nothing for this long is stuck. */
  stalled: 180_000,
  most: 600_000,
};
export type InstallTimings = typeof INSTALL_TIMINGS;

/** npm touches its lock while it waits; fetching or unpacking uses far more CPU time than this. */
const WORK_MS = 200;

interface StartedProgram extends Surroundings {
  command: string;
  args: readonly string[];
}

interface InstallEvents {
  /** Reports what is being fetched or waited for; undefined when that is done. */
  onInstall(reason: string | undefined): void;
}

/**
 * The installs of this gateway: one at a time per package cache, and never killed while writing.
 * A killed npm leaves a folder that makes every later start fail.
 */
export class Installs implements AsyncDisposable {
  readonly #timings: InstallTimings;
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #lingering = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #stopped: AbortSignal;

  /** The signal aborts when the gateway begins to stop: no install is then waited for. */
  constructor(timings: Partial<InstallTimings> = {}, signal?: AbortSignal) {
    this.#timings = { ...INSTALL_TIMINGS, ...timings };
    const { signal: closed } = this.#closing;
    this.#stopped = signal ? AbortSignal.any([signal, closed]) : closed;
  }

  /**
   * Call this before a program starts. If it has to fetch packages, waits until no other install
   * uses the same cache, and removes what an unfinished install left there.
   */
  async begin(
    program: StartedProgram,
    events: InstallEvents,
    signal?: AbortSignal,
  ): Promise<Install | undefined> {
    const installer = findInstaller([program.command, ...program.args]);
    if (!installer) return undefined;
    const folder = installer.family === "npm" ? await npxFolder(installer, program) : undefined;
    const install = (release?: () => void) =>
      new Install({ installer, folder, release, ...events, timings: this.#timings });
    // Docker's daemon fetches images and manages its own store.
    if (installer.family === "docker") return install();
    if (folder !== undefined && await npxFolderState(folder) === "complete") return install();
    let hasWaited = false;
    const wait = () => {
      hasWaited = true;
      events.onInstall(`Waiting for another ${installer.name} install to finish`);
    };
    // Whether others have to fetch anything shows only after a while.
    const release = await this.#turn(
      await queueKey(installer, program),
      folder ? 0 : this.#timings.look,
      wait,
      signal,
    );
    if (folder === undefined) {
      // Whether this one fetches anything is not known yet: until then it is starting.
      if (hasWaited) events.onInstall(undefined);
      return install(release);
    }
    try {
      if (await this.#makeRoom(folder, installer, wait, signal)) return install(release);
    } catch (error) {
      release();
      throw error;
    }
    release();
    events.onInstall(undefined);
    return install();
  }

  /** Removes a program's npx folder once no install uses it. True if there was one. */
  async repair(program: StartedProgram, signal?: AbortSignal): Promise<boolean> {
    const installer = findInstaller([program.command, ...program.args]);
    if (installer?.family !== "npm") return false;
    const folder = await npxFolder(installer, program);
    const release = await this.#turn(await queueKey(installer, program), 0, () => {}, signal);
    try {
      const deadline = Date.now() + this.#timings.most;
      while (await isBusy(folder, installer)) {
        if (Date.now() >= deadline) {
          throw new GatewayError("OPERATION_IN_PROGRESS", {
            message: `Another npm process is still installing ${installer.packages.join(", ")}`,
            recoverySteps: ["Wait until it finishes, or end it, then try again"],
          });
        }
        await sleep(this.#timings.look, undefined, { signal });
      }
      return await removeNpxFolder(folder);
    } finally {
      release();
    }
  }

  /** Lets an install finish although its server is no longer wanted, then ends its program. */
  linger(install: Install, end: () => Promise<void>): void {
    const over = abortable(install.over, this.#stopped).catch(() => {});
    const ended = over.then(end).finally(() => {
      install.end();
      this.#lingering.delete(ended);
    });
    this.#lingering.add(ended);
  }

  /** Asks running installers to roll back, which npm does within 2 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#lingering);
  }

  async #turn(
    key: string,
    quietMs: number,
    onWait: () => void,
    signal?: AbortSignal,
  ): Promise<() => void> {
    const before = this.#queues.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    const last = Promise.all([before, promise]).then(() => {
      if (this.#queues.get(key) === last) this.#queues.delete(key);
    });
    this.#queues.set(key, last);
    if (!before) return resolve;
    const timer = setTimeout(onWait, quietMs);
    try {
      await abortable(before, signal);
      return resolve;
    } catch (error) {
      resolve();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** False if another process has completed the folder in the meantime. */
  async #makeRoom(
    folder: string,
    installer: Installer,
    onWait: () => void,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const deadline = Date.now() + this.#timings.most;
    while (Date.now() < deadline) {
      if (await npxFolderState(folder) === "complete") return false;
      if (!await isBusy(folder, installer)) {
        // Also if only a lock is in it: npm would wait a minute for that to go stale.
        await removeNpxFolder(folder);
        return true;
      }
      onWait();
      await sleep(this.#timings.look, undefined, { signal });
    }
    return true;
  }
}

interface InstallOptions extends InstallEvents {
  installer: Installer;
  folder: string | undefined;
  release?: (() => void) | undefined;
  timings: InstallTimings;
}

/** One start through an installer, until the server's own program runs. */
export class Install {
  readonly folder: string | undefined;
  readonly over: Promise<void>;
  readonly #options: InstallOptions;
  readonly #end: () => void;
  #isActive = false;
  #isOver = false;
  #lines = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: InstallOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    this.#options = options;
    this.folder = options.folder;
    if (options.release && options.folder !== undefined) this.#announce();
  }

  /** Whether packages are being fetched: ending the program now would leave a partial install. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Watches the program's processes; calls `onStuck` with the reason to give up. */
  watch(groupId: number, onStuck: (reason: string) => void): void {
    const { timings, installer: { family, name, packages } } = this.#options;
    const what = packages.join(", ");
    const tooLong = `${name} did not finish installing ${what} within ${minutes(timings.most)}`;
    if (family === "docker") {
      // Its daemon's work does not show in the program's processes.
      this.#timer = setTimeout(() => this.#isActive && onStuck(tooLong), timings.most);
      return;
    }
    const began = Date.now();
    let sign = { at: began, cpuMs: 0, lines: 0 };
    let wait = timings.firstLook;
    const look = async () => {
      const group = (await listCommands()).filter((process) => process.groupId === groupId);
      const isFetching = await this.#isFetching(group);
      if (this.#isOver) return;
      if (!isFetching) return this.end();
      const now = Date.now();
      if (!this.#isActive && now - began >= timings.look) this.#announce();
      const cpuMs = group.reduce((sum, process) => sum + (process.cpuMs ?? 0), 0);
      const hasWorked = group.length === 0 || Math.abs(cpuMs - sign.cpuMs) >= WORK_MS;
      if (hasWorked || this.#lines > sign.lines) sign = { at: now, cpuMs, lines: this.#lines };
      if (now - began > timings.most) return onStuck(tooLong);
      if (now - sign.at > timings.stalled) {
        return onStuck(
          `${name} made no progress installing ${what} for ${minutes(timings.stalled)}`,
        );
      }
      wait = Math.min(2 * wait, timings.look);
      this.#timer = setTimeout(look, wait);
    };
    this.#timer = setTimeout(look, wait);
  }

  wrote(line: string): void {
    this.#lines++;
    if (this.#options.installer.family !== "docker" || this.#isOver) return;
    if (/^Unable to find image|: Pulling from |^Trying to pull /.test(line)) this.#announce();
    else if (/^Status: |^Writing manifest to image destination/.test(line)) this.end();
  }

  /** Called when the server's own program runs, or nothing runs anymore. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.release?.();
    this.#end();
    if (!this.#isActive) return;
    this.#isActive = false;
    this.#options.onInstall(undefined);
  }

  #announce(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    const { name, packages } = this.#options.installer;
    this.#options.onInstall(`${name} is installing ${packages.join(", ")}`);
  }

  async #isFetching(group: readonly ProcessCommand[]): Promise<boolean> {
    const isRunning = group.some(({ words }) => words.length > 0 && !isInstallerProcess(words));
    const { folder } = this;
    if (folder === undefined) return !isRunning;
    const state = await npxFolderState(folder);
    // Package scripts run during an install.
    if (state === "partial") return true;
    // A package installed in the project or the system runs from there; nothing is fetched.
    return !isRunning && (state === "absent" || await isLocked(folder));
  }
}

/** Only installs that share a package cache wait for each other. */
async function queueKey(installer: Installer, program: StartedProgram): Promise<string> {
  return `${installer.family} ${await packageCache(installer, program)}`;
}

async function isBusy(folder: string, installer: Installer): Promise<boolean> {
  return await isLocked(folder) ||
    (await npxFolderState(folder) === "partial" && await isFetchedElsewhere(folder, installer));
}

/** Whether an npm that somebody else started, and that holds no lock, installs into the folder now. */
async function isFetchedElsewhere(folder: string, { packages }: Installer): Promise<boolean> {
  const processes = await listCommands();
  const parents = new Set(processes.map(({ parentId }) => parentId));
  for (const { pid, words } of processes) {
    const other = findInstaller(words);
    // An npx with children has finished installing and runs its program.
    if (other?.family !== "npm" || parents.has(pid)) continue;
    if (other.packages.toSorted().join("\n") !== packages.toSorted().join("\n")) continue;
    const place = await surroundingsOf(pid);
    // If its cache is unknown, it may be this one.
    if (place === undefined || await npxFolder(other, place) === folder) return true;
  }
  return false;
}

function minutes(ms: number): string {
  return ms >= 60_000 ? `${ms / 60_000} min` : `${ms / 1_000} s`;
}
