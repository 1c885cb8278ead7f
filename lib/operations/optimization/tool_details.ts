import { reportOf, type ToolReportInput } from "../../optimizer/report.ts";
import type {
  Evaluation,
  GoldenPrompt,
  OptimizationReport,
  ToolCandidate,
} from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { emptyCategoryWarnings } from "../../optimizer/evaluation/metrics.ts";
import {
  findSubject,
  locateTool,
  type OptimizationAdminOptions,
  resolveSubject,
  type WrittenTool,
} from "./subjects.ts";
import { evidenceOf } from "./evidence.ts";
import type { ToolOptimizationDetail } from "./schemas.ts";
import type { ToolResults } from "./results.ts";

/** A report for each server, or for one. */
export async function reportsOf(
  options: OptimizationAdminOptions,
  server?: string,
): Promise<OptimizationReport[]> {
  // Says so where there is no such server.
  if (server !== undefined) options.canonicalTools(server);
  const byServer = Map.groupBy(options.subjects.tools(server), (tool) => tool.server);
  if (server !== undefined && !byServer.has(server)) byServer.set(server, []);
  const recordsOf = await readRecords(options, server);
  return await Promise.all(
    [...byServer].map(async ([name, tools]) =>
      reportOf(name, await Promise.all(factsOf(options, name, tools, recordsOf(name))))
    ),
  );
}

/** What is kept about a server's tools. */
interface ServerRecords {
  candidates: readonly ToolCandidate[];
  prompts: readonly GoldenPrompt[];
  evaluations: readonly Evaluation[];
}

/** One read of each kind, however many servers there are: a read for each would take far longer. */
async function readRecords(
  { candidates, prompts, evaluations }: OptimizationAdminOptions,
  server: string | undefined,
): Promise<(server: string) => ServerRecords> {
  if (server !== undefined) {
    const [own, asked, ended] = await Promise.all([
      candidates.list(server),
      prompts.list(server),
      evaluations.list(server),
    ]);
    return () => ({ candidates: own, prompts: asked, evaluations: ended });
  }
  const [own, asked, ended] = await Promise.all([
    candidates.byServer(),
    prompts.byServer(),
    evaluations.byServer(),
  ]);
  return (name) => ({
    candidates: own.get(name) ?? [],
    prompts: asked.get(name) ?? [],
    evaluations: ended.get(name) ?? [],
  });
}

function factsOf(
  { runs, promotions, subjects }: OptimizationAdminOptions,
  server: string,
  tools: readonly { tool: string; enabled: boolean }[],
  records: ServerRecords,
): Promise<ToolReportInput>[] {
  return tools.map(async ({ tool, enabled }) => {
    const isOwn = ({ toolName }: { toolName: string }) => toolName === tool;
    const promotion = promotions.of(server, tool);
    const own = records.evaluations.filter(isOwn);
    const golden = records.prompts.filter(isOwn).length;
    // A run needs a prompt: where there never was one, there is nothing to read.
    const found = golden + own.length === 0 ? [] : await runs.list(server, tool);
    const ended = new Set(own.map(({ id }) => id));
    // What callers reported, and evaluations that have not come to their end.
    const others = found.filter(({ evaluationId }) =>
      evaluationId === undefined || !ended.has(evaluationId)
    );
    const canonical = subjects.find(server, tool);
    return {
      server,
      tool,
      enabled,
      stale: promotions.staleness(server, tool) !== undefined,
      ...defined({ promotion, canonical: canonical && (canonical.canonicalDescription ?? "") }),
      evaluations: own,
      runs: own.reduce((sum, { runs }) => sum + runs, others.length),
      costs: [...own.filter(({ runs }) => runs > 0), ...others].map(({ cost }) => cost),
      candidates: records.candidates.filter(isOwn).length,
      goldenPrompts: golden,
    };
  });
}

export async function detailOf(
  options: OptimizationAdminOptions,
  results: ToolResults,
  written: WrittenTool,
): Promise<ToolOptimizationDetail> {
  const { server, tool: named } = locateTool(options, written);
  const subject = findSubject(options, server, named);
  const tool = subject?.name ?? named;
  const [candidates, records, history, jobs] = await Promise.all([
    options.candidates.list(server, tool),
    results.records(server, tool),
    options.promotions.history(server, tool),
    options.jobs.list(),
  ]);
  const isKnown = candidates.length > 0 || history.length > 0 || records.prompts.length > 0;
  // What is kept about a tool that is gone can still be looked at.
  if (!subject && !isKnown) resolveSubject(options, { server, tool });
  const job = jobs.find(({ status, tools }) =>
    (status === "running" || status === "paused") &&
    tools.some((one) => one.server === server && one.toolName === tool && one.phase !== "complete")
  );
  return {
    server,
    tool,
    exists: subject !== undefined,
    enabled: subject?.enabled ?? false,
    canonicalDescription: subject?.canonicalDescription ?? null,
    promotion: options.promotions.of(server, tool) ?? null,
    staleness: options.promotions.staleness(server, tool) ?? null,
    candidates: candidates.map((candidate) => ({
      ...candidate,
      evidence: evidenceOf(candidate.id, records) ?? null,
    })),
    prompts: [...records.prompts],
    warnings: emptyCategoryWarnings(records.prompts),
    evaluations: [...records.evaluations],
    history,
    job: job ?? null,
  };
}
