import { createHash } from "node:crypto";
import { findInstaller, type Installer } from "../processes/installer.ts";
import type { PackageVersion } from "../../storage/packages_repository.ts";

/** A package as an entry names it. */
export interface WantedPackage {
  text: string;
  name: string;
  /** A version, a range or a tag; empty if none is named. */
  spec: string;
  isExact: boolean;
}

type InstallerAt = Installer & Required<Pick<Installer, "at">>;

/** A command line that runs packages of a registry through npx or uvx. */
export interface PackageCommand {
  installer: InstallerAt;
  words: readonly string[];
  wanted: WantedPackage[];
  /** A hash of the requested packages and their registry; a different hash means a different program. */
  request: string;
}

interface Naming {
  package: RegExp;
  exact: RegExp;
  /** What joins a name and a version on the command line. */
  joint: string;
}

const NAMINGS: Partial<Record<Installer["family"], Naming>> = {
  npm: {
    package: /^((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)(?:@([\w.+~^<>=|* -]+))?$/i,
    exact: /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/,
    joint: "@",
  },
  uv: {
    package:
      /^(?!(?:python|pypy|graalpy|pyodide)[\d.]*(?:[@=<>!~]|$))([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?(?:\[[\w., -]*\])?)(?:@?((?:[=<>!~]=?|(?<=@)).+))?$/,
    exact: /^(?:==)?\d[\w.+!-]*$/,
    joint: "==",
  },
};

/**
 * Undefined for everything that is not pinned: other programs, packages of no registry, and command lines
 * with an option that could change what is installed.
 */
export function readPackageCommand(
  words: readonly string[],
  env: Record<string, string>,
): PackageCommand | undefined {
  const installer = findInstaller(words);
  const naming = installer && NAMINGS[installer.family];
  if (!installer?.at || !naming || installer.name === "uv") return undefined;
  const wanted = installer.packages.map((text) => {
    const [, name, spec = ""] = naming.package.exec(text) ?? [];
    return name === undefined ? [] : [{ text, name, spec, isExact: naming.exact.test(spec) }];
  }).flat();
  if (wanted.length < installer.packages.length) return undefined;
  const source = { ...env, ...installer.env };
  const places = Object.keys(source).filter(isPlace).sort().map((name) => [name, source[name]]);
  const request = createHash("sha256")
    .update(JSON.stringify([installer.family, wanted.map(({ text }) => text), places]))
    .digest("hex").slice(0, 16);
  return { installer: { ...installer, at: installer.at }, words, wanted, request };
}

/** Variables that say which registry packages come from. */
function isPlace(name: string): boolean {
  return /^(?:npm_config_(?:@.+:)?registry|UV_(?:DEFAULT_)?INDEX(?:_URL)?|UV_EXTRA_INDEX_URL)$/i
    .test(name);
}

interface PinnedWords {
  /** Up to the packages, options included. */
  options: string[];
  separator: string[];
  /** The packages with their exact versions. */
  exact: string[];
  /** The program and its arguments; without the program if the package names it. */
  rest: string[];
  isNamedByOption: boolean;
}

/** A command line with exact versions in the place of the wanted ones. */
export function pinnedWords(
  { installer, words, wanted }: PackageCommand,
  packages: readonly PackageVersion[],
): PinnedWords {
  const { joint } = NAMINGS[installer.family]!;
  const exact = wanted.map(({ name }, index) => `${name}${joint}${packages[index]?.version}`);
  const { packages: named, argument } = installer.at;
  const options = words.slice(0, argument).map((word, index) => {
    const nth = named.indexOf(index);
    if (nth === -1) return word;
    const { text } = wanted[nth]!;
    return word.slice(0, word.length - text.length) + exact[nth];
  });
  const separator = options.at(-1) === "--" ? options.splice(-1) : [];
  const isNamedByOption = named.length > 0;
  const rest = words.slice(isNamedByOption ? argument : argument + 1);
  return { options, separator, exact, rest, isNamedByOption };
}
