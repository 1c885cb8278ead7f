/** The import direction of the product, as a pure check over sources. */

/** Each line may import the lines below it; modules on one line never import each other. */
export const MODULES: string[][] = [
  ["cli", "console"],
  ["gateway"],
  ["operations"],
  ["mcp"],
  ["http"],
  ["optimizer", "trust"],
  ["catalog"],
  ["servers"],
  ["auth", "telemetry"],
  ["storage"],
  ["config"],
  ["core"],
];

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  path: string;
  text: string;
}

interface Import {
  specifier: string;
  /** Gone at run time. */
  isType: boolean;
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b(\s+type\b)?([\w*$\s{},]*?)\bfrom\s*["']([^"']+)["']|(?:^|\n)\s*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g;
const TEST = /_test\.tsx?$|\/testing\//;
/** The files at the root that start the product, and the packager. */
const MAIN = /^[^/]+\.ts$|^packaging\//;
const APP = /^(routes|islands|components)\//;
/** Beside a page's model: helpers that its islands use as well. */
const BROWSER = /^lib\/console\/ui\/|\/\(_page\)\/browser\.ts$/;
const ISLAND = /^islands\/|\/\(_islands\)\//;
const COMPONENT = /^components\/|\/\(_components\)\//;
/** What a page needs beside the console: operations, requests and errors. */
const PAGE_MODULES = ["console", "operations", "http", "core"];

/** `const { name } = await import("package")`: fine with `default`, which every bundle has. */
const LAZY_PACKAGE = /^.*\bimport\(\s*["'](?!\.|node:)([^"']+)["']\s*\).*$/gm;

/**
 * A bundler may give a lazy import of a package nothing but a default export, which only users of the
 * built program meet. So a package is imported by a module of ours, and that module lazily.
 */
function lazyPackages({ path, text }: SourceFile): string[] {
  if (TEST.test(path) || !/^(lib\/(?!compat\/)|routes\/|islands\/|components\/)/.test(path)) {
    return [];
  }
  return Array.from(text.matchAll(LAZY_PACKAGE))
    .filter(([line]) => !/\bdefault\b|typeof import/.test(line))
    .map(([, name]) => `${path} imports ${name}: lazily, and by names that a bundle may not have`);
}

/** Every import that points the wrong way, and every file that has no place, as sentences. */
export function findViolations(files: SourceFile[]): string[] {
  const imports = new Map(files.map(({ path, text }) => [path, importsOf(text)]));
  const direct = files.flatMap(({ path }) => [
    ...misplaced(path),
    ...imports.get(path)!.flatMap(({ specifier, isType }) => {
      const problem = judge(path, specifier, isType);
      return problem === undefined ? [] : `${path} imports ${specifier}: ${problem}`;
    }),
  ]);
  return [...direct, ...files.flatMap(lazyPackages), ...findBrowserLeaks(imports)];
}

function importsOf(text: string): Import[] {
  return Array.from(text.matchAll(IMPORT), ([, type, names = "", from, bare, dynamic]) => {
    const inner = names.match(/^\s*\{([^}]*)\}\s*$/)?.[1]?.split(",").map((name) => name.trim());
    const named = inner?.filter((name) => name !== "") ?? [];
    const areTypes = named.length > 0 && named.every((name) => name.startsWith("type "));
    return { specifier: from ?? bare ?? dynamic ?? "", isType: type !== undefined || areTypes };
  });
}

function misplaced(path: string): string[] {
  if (TEST.test(path) || !path.startsWith("lib/")) return [];
  const module = path.match(/^lib\/([^/]+)\//)?.[1];
  if (module === undefined) {
    return path === "lib/gateway.ts" ? [] : [`${path}: the lib root holds gateway.ts only`];
  }
  return module === "compat" || rankOf(module) !== -1 ? [] : [`${path}: not a module`];
}

function judge(from: string, specifier: string, isType: boolean): string | undefined {
  if (/^https?:\/\//.test(specifier)) return "nothing is imported from the web";
  if (/^jsr:/.test(specifier)) return "JSR packages are named in deno.json only";
  if (!specifier.startsWith(".") || !/\.(tsx?|mjs)$/.test(specifier)) return undefined;
  const to = resolvePath(from, specifier);
  if (to.startsWith("lib/compat/") && !from.startsWith("lib/compat/")) {
    return "lib/compat is imported by package name";
  }
  if (TEST.test(from) || /^(tests|bench)\//.test(from)) return undefined;
  if (from.startsWith("lib/compat/")) {
    return to.startsWith("lib/compat/") ? undefined : "lib/compat is independent of the gateway";
  }
  if (/^(tests|bench)\/|\/testing\//.test(to)) return "the product does not need its tests";
  if (MAIN.test(from)) return undefined;
  if (from.startsWith("lib/")) return judgeModule(from, to, isType);
  if (!to.startsWith("lib/")) return MAIN.test(to) ? "pages do not import the start" : undefined;
  return judgeApp(from, to, isType);
}

function judgeModule(from: string, to: string, isType: boolean): string | undefined {
  if (MAIN.test(to) || APP.test(to)) return "lib does not import the app";
  const [fromModule, toModule] = [moduleOf(from), moduleOf(to)];
  if (fromModule === toModule) return undefined;
  if (toModule === "gateway" && !isType && fromModule !== "cli") return BY_VALUE;
  const [fromRank, toRank] = [rankOf(fromModule), rankOf(toModule)];
  if (toRank === -1) return `"${toModule}" is not a module`;
  if (fromRank === toRank) return `"${fromModule}" and "${toModule}" are neighbors`;
  return fromRank > toRank ? `"${toModule}" is above "${fromModule}"` : undefined;
}

const BY_VALUE = "only the CLI and the files that start the product build the gateway";

/** Pages with their models, components and islands. */
function judgeApp(from: string, to: string, isType: boolean): string | undefined {
  const module = moduleOf(to);
  if (module === "cli") return "pages do not import the command line";
  if (module === "gateway" && !isType) return BY_VALUE;
  if (ISLAND.test(from)) {
    return BROWSER.test(to) || (isType && module === "core")
      ? undefined
      : "an island takes only lib/console/ui from lib, and types of core";
  }
  if (COMPONENT.test(from)) {
    if (module === "storage") return "a component shows what its page has read";
    return isType || module === "console" || module === "core"
      ? undefined
      : "a component takes only console and core from lib, and types";
  }
  // A page's model lies beside the page and is part of the console.
  if (/\/\(_page\)\//.test(from)) return undefined;
  return isType || PAGE_MODULES.includes(module)
    ? undefined
    : `a page takes only ${PAGE_MODULES.join(", ")} from lib, and types`;
}

/** What a browser would load, and should not, because an island imports it through other files. */
function findBrowserLeaks(imports: ReadonlyMap<string, Import[]>): string[] {
  const loaded = new Set(
    [...imports.keys()].filter((path) => ISLAND.test(path) && !TEST.test(path)),
  );
  const leaks: string[] = [];
  // The loop also visits what it adds.
  for (const path of loaded) {
    for (const { specifier, isType } of imports.get(path) ?? []) {
      if (isType) continue;
      const isPackage = !specifier.startsWith(".");
      if (isPackage && !path.startsWith("lib/core/")) continue;
      const to = isPackage ? specifier : resolvePath(path, specifier);
      const isFit = ISLAND.test(to) || COMPONENT.test(to) || BROWSER.test(to) ||
        to.startsWith("lib/core/");
      if (isFit) loaded.add(to);
      // What an island itself imports from lib was judged before.
      else if (!ISLAND.test(path) || !to.startsWith("lib/")) {
        leaks.push(`${path} imports ${specifier}: an island loads it`);
      }
    }
  }
  return leaks;
}

function moduleOf(path: string): string {
  return path === "lib/gateway.ts" ? "gateway" : path.match(/^lib\/([^/]+)\//)?.[1] ?? path;
}

function rankOf(module: string): number {
  return MODULES.findIndex((line) => line.includes(module));
}

function resolvePath(from: string, specifier: string): string {
  return decodeURI(new URL(specifier, `file:///${from}`).pathname.slice(1));
}
