import { createHash } from "node:crypto";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import type { PackageRelease, PackageVersion } from "../../storage/packages_repository.ts";
import type { CoolDown, FoundPackage } from "./npm_registry.ts";
import { type PackageCommand, pinnedWords, type WantedPackage } from "./package_command.ts";
import { differentTree, otherArchive, type PackageManager } from "./package_manager.ts";
import { runTool, ToolFailed, type ToolPlace } from "./tool_run.ts";

const LOOKUP_MS = 120_000;
/** Without a download. */
const UNPACK_MS = 600_000;
/** Options that tell uv which index to ask, and for which Python. */
const KEPT_OPTIONS = [
  ...["--index-url", "-i", "--default-index", "--index", "--extra-index-url", "--python", "-p"],
  "--cache-dir",
];

/** Python without the site module, which would run the `.pth` files of packages. */
const NOTHING = ["python", "-I", "-S", "-c", ""];

/** The packages of a server that uvx starts; its tree is a requirements.txt with hashes. */
export class UvPackages implements PackageManager {
  readonly #command: PackageCommand;
  readonly #place: ToolPlace;
  /** What is needed besides the packages themselves, in exact versions. */
  #dependencies: string[] = [];
  #isOffline = false;

  constructor(command: PackageCommand, place: ToolPlace) {
    this.#command = command;
    this.#place = place;
  }

  async newest(
    { ms, now }: CoolDown,
    current?: readonly PackageVersion[],
  ): Promise<FoundPackage[]> {
    const before = ms === 0 ? [] : ["--exclude-newer", new Date(now - ms).toISOString()];
    const wanted = this.#command.wanted.map(requirementOf);
    if (!current) return this.#packagesIn(await this.#compile(wanted, before));
    // Nobody has agreed to a newer release yet: to build one would run its code.
    const options = [...before, "--no-build"];
    const least = current.map(({ name, version }) => `${name}>=${version.replace(/\+.*/, "")}`);
    try {
      return this.#packagesIn(await this.#compile([...wanted, ...least], options));
    } catch (error) {
      if (!(error instanceof ToolFailed)) throw error;
      if (/--no-build/.test(error.output)) throw needsBuild(wanted);
      // What is pinned can be younger than the cool-down.
      if (ms > 0 && /No solution found/.test(error.output)) return [...current];
      throw error;
    }
  }

  async cached(): Promise<PackageVersion[] | undefined> {
    this.#isOffline = true;
    const text = await this.#compile(this.#command.wanted.map(requirementOf), [])
      .catch(() => undefined);
    return text === undefined ? undefined : this.#packagesIn(text);
  }

  async checkPublished(release: PackageRelease): Promise<void> {
    const options = ["--no-deps", "--no-build"];
    const text = await this.#compile(this.#exact(release), options).catch(() => undefined);
    this.#place.signal.throwIfAborted();
    if (text === undefined) return;
    for (const [index, found] of this.#packagesIn(text).entries()) {
      const pinned = release.packages[index]!;
      const published = found.integrity.split(" ");
      // Projects add wheels to old releases; the pinned archives stay.
      if (!pinned.integrity.split(" ").some((hash) => published.includes(hash))) {
        throw otherArchive(pinned, found.integrity);
      }
    }
  }

  async install(release: PackageRelease, tree: string | undefined): Promise<string> {
    const text = tree ?? await this.#compile(this.#exact(release), []);
    const names = new Set(release.packages.map(({ name }) => normalized(name)));
    this.#dependencies = [...readRequirements(text)].flatMap(([name, { version }]) =>
      names.has(name) ? [] : [`${name}==${version}`]
    );
    this.#isOffline = await this.#isThere(release, text);
    if (this.#isOffline) return text;
    await this.checkPublished(release);
    await this.#download(release, text);
    this.#isOffline = await this.#isThere(release, text);
    if (!this.#isOffline && !this.#place.isIsolated) {
      await this.#fetch(release, this.#words(release, [], NOTHING));
    }
    return text;
  }

  treeHash(text: string): string {
    const list = [...readRequirements(text)].sort(([a], [b]) => a < b ? -1 : 1);
    return createHash("sha256").update(JSON.stringify(list)).digest("hex");
  }

  runWords(release: PackageRelease): string[] {
    return this.#words(release, this.#isOffline ? ["--offline"] : []);
  }

  isProvided(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Whether the release can run from uv's cache. */
  async #isThere(release: PackageRelease, text: string): Promise<boolean> {
    // uvx starts an environment's Python, which runs what the `.pth` files of packages name.
    const found = this.#place.isIsolated
      ? this.#unpack((words) => this.#run([...words, "--offline"], text, UNPACK_MS))
      : this.#run(this.#words(release, ["--offline"], NOTHING), undefined, UNPACK_MS);
    return await found.then(() => true, () => {
      this.#place.signal.throwIfAborted();
      return false;
    });
  }

  /** Fills uv's cache with archives whose hashes were compared, which uvx itself does not do. */
  async #download(release: PackageRelease, text: string): Promise<void> {
    const names = release.packages.map(({ name }) => name).join(", ");
    try {
      await this.#unpack((words) => this.#fetch(release, words, text));
    } catch (error) {
      this.#place.signal.throwIfAborted();
      const isSwapped = error instanceof ToolFailed && /hash mismatch/i.test(error.output);
      if (isSwapped) throw differentTree(release, "an archive has another hash");
      this.#place.onLine?.(
        `Only the versions of ${names} are pinned, not their hashes: ${errorMessage(error)}`,
      );
    }
  }

  /** Compares the hashes of archives, and fails if one differs; no code of theirs runs. */
  async #unpack(run: (words: string[]) => Promise<string>): Promise<void> {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_uv_" });
    try {
      const options = ["--target", folder, "--require-hashes", "--no-deps", "-q", "-r", "-"];
      await run([...this.#uv(["pip", "install"]), ...options]);
    } finally {
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    }
  }

  /** Downloads for as long as there is progress: wheels can be large. */
  async #fetch(release: PackageRelease, words: string[], input?: string): Promise<string> {
    const { env, cwd, onInstall, signal, installs } = this.#place;
    const [command = "", ...args] = this.runWords(release);
    const install = await installs.begin({ command, args, env, cwd }, { onInstall }, signal);
    try {
      return await runTool({ ...this.#place, words, input, install });
    } finally {
      if (!signal.aborted || install?.isActive !== true) install?.end();
    }
  }

  #words(release: PackageRelease, options: string[], program?: string[]): string[] {
    const pinned = pinnedWords(this.#command, release.packages);
    const from = pinned.isNamedByOption || !program ? [] : ["--from", pinned.exact[0]!];
    const named = pinned.isNamedByOption || program ? [] : pinned.exact.slice(0, 1);
    return [
      ...pinned.options,
      ...options,
      ...this.#dependencies.flatMap((spec) => ["--with", spec]),
      ...from,
      ...pinned.separator,
      ...named,
      ...program ?? pinned.rest,
    ];
  }

  #exact(release: PackageRelease): string[] {
    return pinnedWords(this.#command, release.packages).exact;
  }

  #uv(verb: string[]): string[] {
    const { installer: { at: { program, argument } }, words } = this.#command;
    const uv = words[program]!.replace(/uvx(?=[^/\\]*$)/, "uv");
    const kept = words.slice(program + 1, argument).flatMap((word, index, all) => {
      const name = KEPT_OPTIONS.find((option) => word === option || word.startsWith(`${option}=`));
      if (name === undefined) return [];
      return word === name ? [word, all[index + 1] ?? ""] : [word];
    });
    return [...words.slice(0, program), uv, ...verb, ...kept];
  }

  async #compile(requirements: readonly string[], options: string[]): Promise<string> {
    const output = ["--generate-hashes", "--no-header", "--no-annotate", "-q"];
    return await this.#run(
      [
        ...this.#uv(["pip", "compile", "-"]),
        ...output,
        ...options,
        ...this.#isOffline ? ["--offline"] : [],
      ],
      requirements.join("\n"),
    );
  }

  #packagesIn(text: string): PackageVersion[] {
    const found = readRequirements(text);
    return this.#command.wanted.map(({ name }) => {
      const { version, hashes } = found.get(normalized(name)) ?? {};
      if (version === undefined) {
        throw new GatewayError("NOT_FOUND", { message: `The index has no package ${name}` });
      }
      return { name, version, integrity: hashes!.join(" ") };
    });
  }

  #run(words: string[], input?: string, limitMs = LOOKUP_MS): Promise<string> {
    return runTool({ ...this.#place, words, input, limitMs });
  }
}

function needsBuild(wanted: readonly string[]): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `Newer releases of ${wanted.join(", ")} cannot be looked up: that needs a build, ` +
      "which runs their code",
    recoverySteps: [
      "To pin the newest release unseen, run `quartermaster package forget NAME`, " +
      "then restart the server",
    ],
  });
}

function requirementOf({ name, spec }: WantedPackage): string {
  if (spec === "" || spec === "latest") return name;
  return /^[=<>!~]/.test(spec) ? `${name}${spec}` : `${name}==${spec}`;
}

/** Names are equal in any case, and with any of - _ . between their parts; extras are not part of them. */
function normalized(name: string): string {
  return name.replace(/\[.*$/, "").toLowerCase().replace(/[-_.]+/g, "-");
}

function readRequirements(text: string): Map<string, { version: string; hashes: string[] }> {
  const found = new Map<string, { version: string; hashes: string[] }>();
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    const [, name, version] = /^([A-Za-z0-9][\w.-]*)(?:\[.*?\])?==([^\s;]+)/.exec(line) ?? [];
    if (name === undefined || version === undefined) continue;
    const hashes = [...line.matchAll(/--hash=(\S+)/g)].map(([, hash]) => hash!).sort();
    found.set(normalized(name), { version, hashes });
  }
  return found;
}
