import { fromFileUrl } from "@std/path";

/**
 * Programs from npm that only tests run. The tests' packages are not in deno.json, because the first
 * start would fetch them too, and a browser with them. tests/deno.lock pins them.
 */
const PROGRAMS = {
  budget: "npm:@modelcontextprotocol/server-budget-allocator@2.0.3",
  clock: "npm:@modelcontextprotocol/server-basic-vanillajs@2.0.3",
  conformance: "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
  everything: "npm:@modelcontextprotocol/server-everything@2026.8.31",
  filesystem: "npm:@modelcontextprotocol/server-filesystem@2026.8.31",
  memory: "npm:@modelcontextprotocol/server-memory@2026.8.31",
};

export type NpmProgram = keyof typeof PROGRAMS;

const root = fromFileUrl(new URL("..", import.meta.url));
const programLock = `${root}deno.lock`;

/** What the program needs, in the same versions, and what only the tests need. */
export const TEST_LOCK = `${root}tests/deno.lock`;

/** The arguments of deno that run a program in its locked version, from any folder. */
export function npmProgram(name: NpmProgram, flags: string[] = []): string[] {
  const pinned = ["--config", `${root}deno.json`, "--lock", TEST_LOCK];
  return ["run", "-A", "-q", ...pinned, ...flags, PROGRAMS[name]];
}

/** The same program as npx knows it: its name and version. */
export function npmPackage(name: NpmProgram): string {
  return PROGRAMS[name].replace(/^npm:/, "");
}

/** Downloads them, so that no test has to wait for that, or downloads what another one does. */
export async function fetchPrograms(): Promise<void> {
  await deno(
    "cache",
    "-q",
    "--config",
    `${root}deno.json`,
    "--lock",
    TEST_LOCK,
    ...Object.values(PROGRAMS),
  );
}

async function deno(...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: root }).spawn().status;
  if (!success) throw new Error(`deno ${args[0]} failed`);
}

/** Which of these packages a source file names, in whichever version. */
async function importedIn(specifiers: string[]): Promise<Set<string>> {
  const args = [
    "grep",
    "-hoE",
    "npm:/?(@[a-z0-9._-]+/)?[a-z0-9._-]+",
    "--",
    "*.ts",
    "*.tsx",
    "*deno.json",
  ];
  const { stdout } = await new Deno.Command("git", { args, cwd: root }).output();
  const named = new Set(new TextDecoder().decode(stdout).replaceAll("npm:/", "npm:").split("\n"));
  return new Set(specifiers.filter((name) => named.has(name.replace(/(.)@[^@/]*$/, "$1"))));
}

// deno task --frozen=false lock; without the flag, deno task itself refuses a lock that is out of date.
if (import.meta.main) {
  await deno("install", "--frozen=false");
  const [program, tests] = [programLock, TEST_LOCK].map((path) =>
    JSON.parse(Deno.readTextFileSync(path))
  );
  const kept = await importedIn(Object.keys(tests.specifiers));
  const specifiers = Object.entries(tests.specifiers).filter(([name]) => kept.has(name));
  const merged = {
    ...program,
    specifiers: { ...Object.fromEntries(specifiers), ...program.specifiers },
    npm: { ...tests.npm, ...program.npm },
  };
  await Deno.writeTextFile(TEST_LOCK, `${JSON.stringify(merged, null, 2)}\n`);
  const write = ["--frozen=false", "--lock", TEST_LOCK];
  await deno("check", "-q", ...write);
  await deno("cache", ...write, ...Object.values(PROGRAMS));
}
