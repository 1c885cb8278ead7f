import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { changeFolder } from "../../core/change_folder.ts";
import type { PackageRelease } from "../../storage/packages_repository.ts";

const Entry = z.looseObject({
  version: z.string().optional(),
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
});
type Entry = z.infer<typeof Entry>;
const LockFile = z.looseObject({ packages: z.record(z.string(), Entry) });

/** What npm installs for a package: each dependency with its version and hash, as package-lock.json. */
export class NpmTree {
  readonly text: string;
  readonly hash: string;
  readonly #entries: Record<string, Entry>;

  constructor(text: string) {
    this.text = text;
    this.#entries = LockFile.parse(JSON.parse(text)).packages;
    const list = Object.entries(this.#entries).filter(([path]) => path !== "")
      .map(([path, entry]) => [path, ...identityOf(entry)])
      .sort(([a], [b]) => a! < b! ? -1 : 1);
    this.hash = createHash("sha256").update(JSON.stringify(list)).digest("hex");
  }

  /** The tree that npm noted in a folder of the npx cache. */
  static async read(folder: string): Promise<NpmTree> {
    const text = await Deno.readTextFile(join(folder, "package-lock.json"))
      // With `package-lock=false` npm writes only the list of what is installed.
      .catch(() => Deno.readTextFile(installedPath(folder)));
    return new NpmTree(text);
  }

  /** Has npm install exactly this tree into the folder. */
  async seed(folder: string): Promise<void> {
    const dependencies = this.#entries[""]?.dependencies ?? {};
    await changeFolder(folder, {
      "package.json": JSON.stringify({ dependencies }),
      "package-lock.json": this.text,
    });
  }

  /** The first difference between what is installed and this tree; undefined if there is none. */
  difference(installed: InstalledPackages): string | undefined {
    for (const [path, entry] of installed.entries) {
      const wanted = this.#entries[path];
      const name = path.replace(/^.*node_modules\//, "");
      if (wanted === undefined) return `${name} ${entry.version} is not part of it`;
      const [found, expected] = [identityOf(entry), identityOf(wanted)];
      if (found[0] !== expected[0]) return `${name} is ${found[0]}, not ${expected[0]}`;
      if (found[1] !== expected[1]) return `${name} ${found[0]} has another hash`;
    }
    return undefined;
  }
}

/** What npm says is installed in a folder of the npx cache. */
export class InstalledPackages {
  readonly entries: [path: string, entry: Entry][];

  private constructor(entries: [string, Entry][]) {
    this.entries = entries;
  }

  static async read(folder: string): Promise<InstalledPackages> {
    const { packages } = LockFile.parse(JSON.parse(await Deno.readTextFile(installedPath(folder))));
    return new InstalledPackages(Object.entries(packages));
  }

  /** The hash and version of a package at the top; undefined if it is not there. */
  find(name: string): { version: string; integrity: string } | undefined {
    const entry = this.entries.find(([path]) => path === `node_modules/${name}`)?.[1];
    return entry?.version === undefined
      ? undefined
      : { version: entry.version, integrity: entry.integrity ?? "" };
  }

  /** The first package of a release that is not installed as it was pinned. */
  unlike({ packages }: Pick<PackageRelease, "packages">) {
    return packages.map((pinned) => ({ pinned, found: this.find(pinned.name) })).find((
      { pinned, found },
    ) => found?.version !== pinned.version || found.integrity !== pinned.integrity);
  }

  get hasScripts(): boolean {
    return this.entries.some(([, { hasInstallScript }]) => hasInstallScript);
  }
}

function installedPath(folder: string): string {
  return join(folder, "node_modules", ".package-lock.json");
}

/** Packages inside another one's archive have no hash of their own. */
function identityOf({ version, integrity, resolved }: Entry): [string, string] {
  return [version ?? "", integrity ?? resolved ?? ""];
}
