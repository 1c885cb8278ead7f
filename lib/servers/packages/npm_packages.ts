import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { parseJson } from "../../core/rpc.ts";
import type { Install } from "../processes/installs.ts";
import { BROKEN_CACHE } from "../../core/failure_cause.ts";
import { changeFolder } from "../../core/change_folder.ts";
import { npxFolder, npxFolderState, removeNpxFolder } from "../processes/installer.ts";
import type { PackageRelease, PackageVersion } from "../../storage/packages_repository.ts";
import { type CoolDown, type FoundPackage, NpmRegistryView, npmWords } from "./npm_registry.ts";
import { InstalledPackages, NpmTree } from "./npm_tree.ts";
import { type PackageCommand, pinnedWords } from "./package_command.ts";
import { differentTree, otherArchive, type PackageManager } from "./package_manager.ts";
import { runTool, ToolFailed, type ToolPlace } from "./tool_run.ts";

const Manifest = z.looseObject({
  name: z.string().optional(),
  bin: z.string().or(z.record(z.string(), z.string())).optional(),
});
/** Marks a folder of the npx cache whose install scripts have run. */
const SCRIPTS_RAN = ".scripts-ran";
const SCRIPTS_MS = 600_000;
const PREFIX_MS = 60_000;

/** The packages of a server that npx starts. */
export class NpmPackages implements PackageManager {
  readonly #command: PackageCommand;
  readonly #place: ToolPlace;
  readonly #view: NpmRegistryView;
  /** The registry cannot be asked, so npm has to make do with its cache. */
  #isOffline = false;

  constructor(command: PackageCommand, place: ToolPlace) {
    this.#command = command;
    this.#place = place;
    this.#view = new NpmRegistryView(command, place);
  }

  newest(coolDown: CoolDown, current?: readonly PackageVersion[]): Promise<FoundPackage[]> {
    const { wanted } = this.#command;
    return Promise.all(
      wanted.map((each, index) => this.#view.newest(each, coolDown, current?.[index]?.version)),
    );
  }

  /** What npx has run so far, for when the registry cannot be asked. */
  async cached(): Promise<PackageVersion[] | undefined> {
    const { installer, wanted } = this.#command;
    const folder = await npxFolder(installer, this.#place);
    if (await npxFolderState(folder) !== "complete") return undefined;
    const installed = await InstalledPackages.read(folder).catch(() => undefined);
    if (!installed) return undefined;
    const packages = wanted.flatMap(({ name }) => {
      const found = installed.find(name);
      return found ? [{ name, ...found }] : [];
    });
    if (packages.length < wanted.length) return undefined;
    this.#isOffline = true;
    return packages;
  }

  async checkPublished(release: PackageRelease): Promise<void> {
    for (const pinned of release.packages) {
      // Offline or unpublished: what is installed is compared anyway.
      const found = await this.#view.find(pinned.name, pinned.version).catch(() => undefined);
      this.#place.signal.throwIfAborted();
      if (found && found.integrity !== pinned.integrity) {
        throw otherArchive(pinned, found.integrity);
      }
    }
  }

  async install(release: PackageRelease, kept: string | undefined): Promise<string> {
    const tree = kept === undefined ? undefined : new NpmTree(kept);
    const folder = await this.#folder(release);
    if (await npxFolderState(folder) !== "complete") {
      if (tree) await this.checkPublished(release);
      await this.#install(release, folder, tree);
    }
    const installed = await InstalledPackages.read(folder).catch((cause) => {
      throw new Error(`Cannot read what is installed in ${folder}. ${BROKEN_CACHE}`, { cause });
    });
    this.#compare(installed, release, tree);
    if (installed.hasScripts && this.#mayRunScripts()) await this.#runScripts(folder);
    return tree?.text ?? (await NpmTree.read(folder)).text;
  }

  treeHash(text: string): string {
    return new NpmTree(text).hash;
  }

  runWords(release: PackageRelease): string[] {
    const { options, separator, exact, rest, isNamedByOption } = this.#words(release);
    // What is installed was checked: npx need not ask the registry about it again.
    return [
      ...options,
      "--prefer-offline",
      ...separator,
      ...isNamedByOption ? rest : [exact[0]!, ...rest],
    ];
  }

  /** A package or program of the project or the machine, where npx looks first. */
  async isProvided(release?: PackageRelease): Promise<boolean> {
    if (this.#place.isIsolated) return false;
    const { wanted } = this.#command;
    const names = wanted.filter(({ spec }) => release !== undefined || spec === "");
    if (names.length === 0) return false;
    const cwd = resolve(this.#place.cwd ?? ".");
    const project = await projectOf(cwd) ?? cwd;
    if (!release && await this.#hasProgram(names[0]!.name, project)) return true;
    for (const { name } of names) {
      const text = await Deno.readTextFile(join(project, "node_modules", name, "package.json"))
        .catch(() => undefined);
      if (text === undefined) continue;
      const pinned = release?.packages.find((each) => each.name === name);
      if (!pinned || JSON.parse(text).version === pinned.version) return true;
    }
    return false;
  }

  /** Whether npx would run a program of this name without asking the registry. */
  async #hasProgram(name: string, project: string): Promise<boolean> {
    // With an option that names packages, npx runs a program of theirs.
    if (this.#command.installer.at.packages.length > 0) return false;
    if ((await binsOf(project)).includes(name)) return true;
    for (let folder = project;; folder = dirname(folder)) {
      if (await isFile(join(folder, "node_modules", ".bin", name))) return true;
      if (folder === dirname(folder)) break;
    }
    const words = [...npmWords(this.#command), "prefix", "--global"];
    const prefix = (await runTool({ ...this.#place, words, limitMs: PREFIX_MS })).trim();
    const [bins, modules] = Deno.build.os === "windows"
      ? [prefix, join(prefix, "node_modules")]
      : [join(prefix, "bin"), join(prefix, "lib", "node_modules")];
    return await isFile(join(bins, name)) || await isFile(join(modules, name, "package.json"));
  }

  #words(release: PackageRelease) {
    return pinnedWords(this.#command, release.packages);
  }

  #folder(release: PackageRelease): Promise<string> {
    const packages = this.#words(release).exact;
    return npxFolder({ ...this.#command.installer, packages }, this.#place);
  }

  /** Without scripts: none runs before the hashes were compared. */
  async #install(release: PackageRelease, folder: string, tree: NpmTree | undefined) {
    const { installs } = this.#place;
    const { options, exact, isNamedByOption } = this.#words(release);
    const words = [
      ...options,
      "--yes",
      "--ignore-scripts",
      ...tree || this.#isOffline ? ["--prefer-offline"] : [],
      ...isNamedByOption ? [] : exact.map((spec) => `--package=${spec}`),
      "-c",
      "exit 0",
    ];
    const [command = "", ...args] = words;
    const { env, cwd, onInstall } = this.#place;
    const install = await installs.begin(
      { command, args, env, cwd },
      { onInstall },
      this.#place.signal,
    );
    try {
      // Another start may have installed it meanwhile.
      if (await npxFolderState(folder) === "complete") return;
      await tree?.seed(folder);
      await runTool({ ...this.#place, words, install });
      if (await npxFolderState(folder) !== "complete") {
        throw new Error(
          `npx did not install ${exact.join(", ")}: another copy is in use, which is not pinned`,
        );
      }
      // Nothing that differs is left there for other programs to run.
      this.#compare(await InstalledPackages.read(folder), release, tree);
    } catch (error) {
      // One that is still at work finishes first.
      if (!this.#isLingering(install)) await removeNpxFolder(folder).catch(() => {});
      const isSwapped = error instanceof ToolFailed && /\bEINTEGRITY\b/.test(error.output);
      throw isSwapped ? differentTree(release, error.message) : error;
    } finally {
      if (!this.#isLingering(install)) install?.end();
    }
  }

  /** Once for each folder, also if an earlier start was killed before they had run. */
  async #runScripts(folder: string): Promise<void> {
    const modules = join(folder, "node_modules");
    if (await Deno.stat(join(modules, SCRIPTS_RAN)).then(() => true, () => false)) return;
    const words = [...npmWords(this.#command), "rebuild"];
    const { onInstall } = this.#place;
    onInstall("npm is running the packages' install scripts");
    try {
      await runTool({ ...this.#place, words, cwd: folder, limitMs: SCRIPTS_MS });
    } finally {
      onInstall(undefined);
    }
    await changeFolder(modules, { [SCRIPTS_RAN]: "" });
  }

  #mayRunScripts(): boolean {
    const { words, installer: { at } } = this.#command;
    const options = words.slice(at.program, at.argument);
    return !this.#place.isIsolated && !options.includes("--ignore-scripts");
  }

  #isLingering(install: Install | undefined): boolean {
    return this.#place.signal.aborted && install?.isActive === true;
  }

  #compare(
    installed: InstalledPackages,
    release: PackageRelease,
    tree: NpmTree | undefined,
  ): void {
    const unlike = installed.unlike(release);
    if (unlike) throw otherArchive(unlike.pinned, unlike.found?.integrity ?? "nothing");
    const difference = tree?.difference(installed);
    if (difference !== undefined) throw differentTree(release, difference);
  }
}

/** The folder that npm takes for the project: the nearest with a package.json or node_modules. */
async function projectOf(folder: string): Promise<string | undefined> {
  for (const name of ["package.json", "node_modules"]) {
    if (await Deno.stat(join(folder, name)).then(() => true, () => false)) return folder;
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : await projectOf(parent);
}

/** The programs that a project's own package.json names. */
async function binsOf(project: string): Promise<string[]> {
  const text = await Deno.readTextFile(join(project, "package.json")).catch(() => "");
  const { data } = Manifest.safeParse(parseJson(text));
  if (typeof data?.bin !== "string") return Object.keys(data?.bin ?? {});
  return data.name === undefined ? [] : [data.name.replace(/^@[^/]+\//, "")];
}

function isFile(path: string): Promise<boolean> {
  return Deno.stat(path).then((found) => found.isFile, () => false);
}
