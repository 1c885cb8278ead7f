/** The import direction of lib/, as a pure check over sources. */

/** Left may import right; rooms of one group never import each other. */
export const ROOMS: string[][] = [
  ["cli", "console"],
  ["http"],
  ["sessions"],
  ["surfaces"],
  ["optimizer"],
  ["search", "toolsets"],
  ["routing"],
  ["catalog"],
  ["downstream"],
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

const IMPORT =
  /(?:^|\n)\s*(import|export)\b(\s+type\b)?[^;'"]*?(?:from\s+)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g;

/** Every import that points the wrong way, in words. */
export function findViolations(files: SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    Array.from(text.matchAll(IMPORT), (match) => {
      const specifier = match[3] ?? match[4] ?? "";
      const isTypeOnly = match[2] !== undefined;
      const problem = judge(path, specifier, isTypeOnly);
      return problem && `${path} imports ${specifier}: ${problem}`;
    }).filter((problem) => problem !== undefined)
  );
}

function judge(from: string, specifier: string, isTypeOnly: boolean): string | undefined {
  if (/^https?:\/\//.test(specifier)) return "nothing is imported from the web";
  if (/^jsr:/.test(specifier)) return "JSR packages are named in deno.json only";
  if (!specifier.startsWith(".")) return undefined;
  const to = resolvePath(from, specifier);
  const isTest = /_test\.tsx?$|\/testing\//.test(from);
  if (to.startsWith("lib/compat/") && !from.startsWith("lib/compat/")) {
    return "lib/compat is imported by package name";
  }
  if (from.startsWith("lib/compat/") && !to.startsWith("lib/compat/") && !isTest) {
    return "lib/compat knows nothing of the gateway";
  }
  if (
    from.startsWith("islands/") && to.startsWith("lib/") && !to.startsWith("lib/console/ui/")
  ) {
    return "an island runs in the browser and takes only lib/console/ui from lib";
  }
  if (isTest) return undefined;
  const isProduct = !/^(tests|bench)\//.test(from);
  if (isProduct && to.startsWith("tests/")) return "the product does not need its tests";
  const fromRoom = roomOf(from);
  const toRoom = roomOf(to);
  if (fromRoom === undefined || fromRoom === toRoom) return undefined;
  if (to === "lib/compose.ts" || to === "lib/host.ts") {
    return isTypeOnly || fromRoom === "cli"
      ? undefined
      : "only main.ts and the CLI construct the gateway";
  }
  if (toRoom === undefined) {
    return /^(main|dev|app|start|host)\.ts$|^(routes|islands|components)\//.test(to)
      ? "lib does not import the app"
      : undefined;
  }
  const [fromRank, toRank] = [rankOf(fromRoom), rankOf(toRoom)];
  if (fromRank === -1) return `"${fromRoom}" is no room of the design`;
  if (toRank === -1) return `"${toRoom}" is no room of the design`;
  if (fromRank === toRank) return `"${fromRoom}" and "${toRoom}" are neighbors`;
  return fromRank > toRank ? `"${toRoom}" stands left of "${fromRoom}"` : undefined;
}

function roomOf(path: string): string | undefined {
  return path.match(/^lib\/([^/]+)\//)?.[1];
}

function rankOf(room: string): number {
  return ROOMS.findIndex((group) => group.includes(room));
}

function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}
