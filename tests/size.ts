/** How large the product is: `deno task size`. Tests, fixtures, benchmarks and data do not count. */
import { fromFileUrl, join } from "@std/path";
import type { SourceFile } from "./architecture.ts";

/** What the test holds the product to. */
export const CEILING = {
  files: 796,
  lines: 130_000,
  linesPerFile: 500,
  linesPerFunction: 120,
};
/** What is listed as too long. */
const LONG_FILE = 500;
const LONG_FUNCTION = 120;
const SMALL_FILE = 40;

const NO_SOURCE =
  /_test\.\w+$|(^|\/)(testing|fixtures|fixture|data|vendor|node_modules|_fresh)\/|^(tests|bench|static|dist|docs)\//;
/** Names that Fresh asks every route to export. */
const ROUTE_NAMES = new Set(["handler", "config"]);

export interface LongFunction {
  path: string;
  /** Of its first line, counted from 1. */
  line: number;
  name: string;
  lines: number;
}

export interface ModuleSize {
  files: number;
  lines: number;
  median: number;
  small: number;
}

export function isSource(path: string): boolean {
  return /\.(tsx?|mjs)$/.test(path) && !path.endsWith(".d.ts") && !NO_SOURCE.test(path);
}

/** All source files that git tracks. */
export async function sourceFiles(): Promise<SourceFile[]> {
  const root = fromFileUrl(new URL("..", import.meta.url));
  const { stdout, success } = await new Deno.Command("git", {
    args: ["-c", "core.quotePath=false", "ls-files"],
    cwd: root,
  }).output();
  if (!success) throw new Error("Cannot list the files: this is not a git checkout");
  const paths = new TextDecoder().decode(stdout).split("\n").filter(isSource);
  const read = async (path: string) => {
    const text = await Deno.readTextFile(join(root, path)).catch(() => undefined);
    return text === undefined ? [] : [{ path, text }];
  };
  return (await Promise.all(paths.map(read))).flat();
}

export function countLines(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

export function sizeOf(files: readonly SourceFile[]): ModuleSize {
  const lines = files.map(({ text }) => countLines(text)).sort((a, b) => a - b);
  return {
    files: lines.length,
    lines: lines.reduce((sum, count) => sum + count, 0),
    median: lines[Math.floor(lines.length / 2)] ?? 0,
    small: lines.filter((count) => count <= SMALL_FILE).length,
  };
}

const SIGNATURE_END = /(\)|=>|\)\s*:\s*[^=;]+|function\b.*)\s*\{$/;
const CONTROL =
  /^(\}?\s*(if|else|for|while|switch|catch|try|do|finally|return|case|default)\b|\/\/|\*)/;
const NAME =
  /(?:function\*?|const|let|get|set|async|static|override)\s+([\w$#]+)|^([\w$#]+)\s*[(<=:]/;

/**
 * Functions with their lengths. Reads the text as `deno fmt` writes it: a block ends with the first
 * line that is indented as the line that opened it, and begins with a brace.
 */
export function functionsOf({ path, text }: SourceFile): LongFunction[] {
  const lines = text.split("\n");
  const found: LongFunction[] = [];
  for (const [index, line] of lines.entries()) {
    const code = line.trim();
    if (!SIGNATURE_END.test(code) || CONTROL.test(code)) continue;
    const indent = indentOf(line);
    const length = lines.slice(index + 1)
      .findIndex((other) => other.trim() !== "" && indentOf(other) <= indent) + 1;
    if (length < 1) continue;
    let first = index;
    // The parameters of a long signature stand above the line that opens the block.
    while (
      first > 0 && (/^[)}\]]/.test(lines[first]!.trim()) || indentOf(lines[first]!) > indent)
    ) {
      first--;
    }
    const match = lines[first]!.trim().replace(/^export\s+(default\s+)?/, "").match(NAME);
    const name = match?.[1] ?? match?.[2] ?? "(anonymous)";
    found.push({ path, line: first + 1, name, lines: index - first + length + 1 });
  }
  return found;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) ([\w$]+)/gm;

/** Exported names that are declared in several files, with the files. */
export function repeatedNames(files: readonly SourceFile[]): Map<string, string[]> {
  const declared = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [, name = ""] of text.matchAll(EXPORT)) {
      if (ROUTE_NAMES.has(name) && path.startsWith("routes/")) continue;
      declared.set(name, (declared.get(name) ?? new Set()).add(path));
    }
  }
  return new Map(
    [...declared].filter(([, paths]) => paths.size > 1)
      .map(([name, paths]): [string, string[]] => [name, [...paths].sort()])
      .sort(([a], [b]) => a < b ? -1 : 1),
  );
}

/** `lib/servers`, `routes`, or the root. */
function moduleOf(path: string): string {
  return path.match(/^(lib\/[^/]+|[^/]+)\//)?.[1] ?? "(root)";
}

export function report(files: readonly SourceFile[]): string {
  const row = (name: string, { files, lines, median, small }: ModuleSize) =>
    [name.padEnd(18), ...[files, lines, median, small].map((count) => String(count).padStart(8))]
      .join("");
  const modules = Object.entries(Object.groupBy(files, ({ path }) => moduleOf(path)))
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, own]) => row(name, sizeOf(own ?? [])));
  const longFiles = files.map(({ path, text }) => ({ path, lines: countLines(text) }))
    .filter(({ lines }) => lines > LONG_FILE).sort((a, b) => b.lines - a.lines);
  const longFunctions = files.flatMap(functionsOf)
    .filter(({ lines }) => lines > LONG_FUNCTION).sort((a, b) => b.lines - a.lines);
  const repeated = repeatedNames(files);
  return [
    `${"".padEnd(18)}   files   lines  median   <= ${SMALL_FILE}`,
    ...modules,
    row("all", sizeOf(files)),
    "",
    `Files over ${LONG_FILE} lines: ${longFiles.length}`,
    ...longFiles.map(({ path, lines }) => `  ${path} ${lines}`),
    `Functions over ${LONG_FUNCTION} lines: ${longFunctions.length}`,
    ...longFunctions.map(({ path, line, name, lines }) => `  ${path}:${line} ${name} ${lines}`),
    `Exported names declared in several files: ${repeated.size}`,
    ...[...repeated].map(([name, paths]) => `  ${name}: ${paths.join(", ")}`),
    "",
  ].join("\n");
}

if (import.meta.main) {
  await Deno.stdout.write(new TextEncoder().encode(report(await sourceFiles())));
}
