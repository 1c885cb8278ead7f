import {
  CANONICAL,
  type Depth,
  descriptionHash,
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
  type Metrics,
  Thresholds,
  type Verdict,
} from "../../core/optimization.ts";
import { theftsOf } from "../../optimizer/confusion.ts";
import { pairRuns } from "../../optimizer/paired_exact.ts";
import { countRuns } from "../../optimizer/metrics.ts";
import { judge } from "../../optimizer/verdict.ts";

/** What is known of a candidate, and whether that is enough. */
export interface Evidence {
  /** `measured`: by the gateway; `reported`: by a caller. */
  source: "measured" | "reported";
  depth: Depth;
  metrics: Metrics;
  /** The canonical description on the same prompts. */
  baseline: Metrics;
  errors: number;
  evaluationId?: string;
  /** When the last of it was found. */
  time: string;
  verdict?: Verdict;
  /** Why nothing can be concluded from it, where that is so. */
  problem?: string;
}

/** All that was kept about one tool. */
export interface ToolRecords {
  /** The server's own description of today; undefined where the tool is gone. */
  canonical: string | undefined;
  prompts: readonly GoldenPrompt[];
  /** Newest first. */
  evaluations: readonly Evaluation[];
  /** Oldest first. */
  runs: readonly EvalRun[];
}

/**
 * What decides on a candidate. What the gateway measured outranks what a caller reports, and a
 * thorough evaluation a quick one: else a refusal could be talked away.
 */
export function evidenceOf(candidateId: string, records: ToolRecords): Evidence | undefined {
  const measured = records.evaluations.flatMap((evaluation) =>
    measuredBy(evaluation, candidateId, records.canonical) ?? []
  );
  const [first] = [
    ...measured.filter(({ problem, depth }) => problem === undefined && depth === "thorough"),
    ...measured.filter(({ problem }) => problem === undefined),
  ];
  return first ?? reportedOf(candidateId, records) ?? measured[0];
}

function measuredBy(
  evaluation: Evaluation,
  candidateId: string,
  canonical: string | undefined,
): Evidence | undefined {
  const found = evaluation.results.find((result) => result.candidateId === candidateId);
  const own = evaluation.results.find((result) => result.candidateId === CANONICAL);
  if (!found || !own) return undefined;
  const problem = evaluation.void !== undefined
    ? `The evaluation is void: ${evaluation.void}`
    : canonical !== undefined && own.description !== canonical
    ? "The server's own description has changed since this was evaluated: evaluate again"
    : undefined;
  return {
    source: "measured",
    depth: evaluation.depth,
    metrics: found.metrics,
    baseline: own.metrics,
    errors: found.errors,
    evaluationId: evaluation.id,
    time: evaluation.endedAt,
    ...(found.verdict === undefined ? {} : { verdict: found.verdict }),
    ...(problem === undefined ? {} : { problem }),
  };
}

function reportedOf(candidateId: string, records: ToolRecords): Evidence | undefined {
  const { prompts, canonical } = records;
  const reported = records.runs.filter(isReported);
  const hash = canonical === undefined ? undefined : descriptionHash(canonical);
  const baseline = reported.filter((run) =>
    run.candidateId === CANONICAL && (hash === undefined || run.descriptionHash === hash)
  );
  const candidate = candidateId === CANONICAL
    ? baseline
    : reported.filter((run) => run.candidateId === candidateId);
  if (candidate.length === 0) return undefined;
  const [metrics, base] = [countRuns(candidate, prompts), countRuns(baseline, prompts)];
  const evidence = {
    source: "reported" as const,
    depth: "quick" as const,
    metrics,
    baseline: base,
    errors: candidate.filter(({ status }) => status === "error").length,
    time: candidate.at(-1)!.timestamp,
  };
  const missing = prompts.length === 0
    ? ["no prompt is saved for the tool"]
    : [...new Map([[candidateId, candidate], [CANONICAL, baseline]])].flatMap(([id, runs]) => {
      const without = prompts.filter((prompt) => !runs.some((run) => isRunOf(run, prompt)));
      if (without.length === 0) return [];
      return [`${id} has no run for ${without.map((prompt) => prompt.id).join(", ")}`];
    });
  if (missing.length > 0) {
    const problem = `The results that were reported are not complete, so they do not count: ${
      missing.join("; ")
    }`;
    return { ...evidence, problem };
  }
  if (candidateId === CANONICAL) return evidence;
  const verdict = judge({
    depth: "quick",
    candidate: metrics,
    baseline: base,
    thresholds: Thresholds.parse({}),
    thefts: theftsOf(candidate, baseline, prompts),
    pairs: pairRuns(candidate, baseline, prompts),
    isReported: true,
  });
  return { ...evidence, verdict };
}

/** Whether a caller says so. */
export function isReported({ evaluator }: EvalRun): boolean {
  return evaluator === "caller";
}

/** Only one that went well says anything, and only of the version it was put to. */
function isRunOf(run: EvalRun, prompt: GoldenPrompt): boolean {
  return run.status === "ok" && run.promptId === prompt.id && run.promptVersion === prompt.version;
}

/** Whether a candidate may be promoted on this, or in words why not. */
export function refusalOf(evidence: Evidence | undefined): string | undefined {
  if (!evidence) return "No evaluation runs found for candidate - run evaluations first";
  if (evidence.problem !== undefined) return evidence.problem;
  if (!evidence.verdict) return "The evaluation came to no verdict on this candidate";
  return evidence.verdict.promote ? undefined : evidence.verdict.words;
}
