import { join } from "@std/path";
import * as z from "zod";
import { npmProgram } from "./packages.ts";

export interface ScenarioResult {
  scenario: string;
  /** Passed: at least one check succeeded, and none failed or warned. Skipped: by the suite itself. */
  verdict: "passed" | "failed" | "skipped";
  /** One line a check that judged something: the same lines mean the same behavior. */
  details: string;
}

export interface ConformanceOptions {
  /** The spec revision whose scenarios are run. */
  requirements?: "2025-11-25" | "2026-07-28";
  /** For the whole run. */
  timeoutMs?: number;
  scenarioLimitMs?: number;
}

const SCENARIO_LIMIT_MS = 60_000;

const Checks = z.array(z.looseObject({
  id: z.string(),
  status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
  errorMessage: z.string().optional(),
}));

/** Runs the official conformance suite against the MCP server at `url`. */
export function runConformance(
  url: string,
  options?: ConformanceOptions,
): Promise<ScenarioResult[]> {
  return runSuite(["server", "--url", url], options);
}

/** Runs the suite's scenarios for clients, all at once, with a command that is given a server's URL. */
export function runClientConformance(
  command: string,
  options?: ConformanceOptions,
): Promise<ScenarioResult[]> {
  return runSuite(["client", "--command", command], options);
}

/** The scenarios for clients that the suite runs for a revision and never scores, because they are extensions. */
export async function listClientExtensions(requirements: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...npmProgram("conformance"), "list", "--requirements", requirements],
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  const listed = /^Run and reported, but never scored:\n {2}extension .*\n((?: {4}- .*\n)+)/m;
  const names = listed.exec(text)?.[1];
  return (names ?? "").match(/(?<=- )\S+(?= \[client\])/g) ?? [];
}

async function runSuite(
  role: string[],
  {
    requirements = "2025-11-25",
    timeoutMs = 600_000,
    scenarioLimitMs = SCENARIO_LIMIT_MS,
  }: ConformanceOptions = {},
): Promise<ScenarioResult[]> {
  const folder = await Deno.makeTempDir({ prefix: "conformance_" });
  try {
    const limits = ["--requirements", requirements, "--timeout", String(scenarioLimitMs)];
    const signal = AbortSignal.timeout(timeoutMs);
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...npmProgram("conformance"), ...role, "-o", folder, ...limits],
      cwd: folder,
      env: { NO_COLOR: "1" },
      stdin: "null",
      signal,
    }).output();
    // It ends with 1 when a scenario fails, so only an end without results is trouble of its own.
    const results = signal.aborted ? [] : await readResults(folder);
    if (results.length > 0) return results;
    const why = signal.aborted ? `not at its end after ${timeoutMs} ms` : `code ${code}`;
    const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
    throw new Error(`The conformance suite gave no results: ${why}\n${said}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readResults(folder: string): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (!isDirectory) continue;
    // server-SCENARIO-2026-01-31T10-20-30-400Z, or a folder of scenarios whose names have a slash
    const scenario = name.match(/^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/)?.[1];
    if (scenario === undefined) {
      const inner = await readResults(join(folder, name));
      results.push(...inner.map((one) => ({ ...one, scenario: `${name}/${one.scenario}` })));
      continue;
    }
    const path = join(folder, name, "checks.json");
    results.push(judge(scenario, Checks.parse(JSON.parse(await Deno.readTextFile(path)))));
  }
  return results.sort((a, b) => a.scenario < b.scenario ? -1 : 1);
}

function judge(scenario: string, checks: z.infer<typeof Checks>): ScenarioResult {
  const judged = checks.filter(({ status }) => status !== "INFO");
  const isGood = judged.every(({ status }) => status === "SUCCESS" || status === "SKIPPED");
  const isTried = judged.some(({ status }) => status === "SUCCESS");
  return {
    scenario,
    verdict: !isGood || judged.length === 0 ? "failed" : isTried ? "passed" : "skipped",
    details: judged.map(({ status, id, errorMessage }) =>
      `${status} ${id}${errorMessage === undefined ? "" : `: ${errorMessage}`}`
    ).join("\n"),
  };
}
