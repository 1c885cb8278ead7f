import {
  CANONICAL,
  type DescriptionResult,
  type Evaluation,
  type OptimizationJob,
  type ToolCandidate,
} from "../../core/optimization.ts";
import { gainTextOf, percent, promptsIn } from "../evaluation/metrics.ts";
import { counted } from "../../core/text.ts";

export function progressMessage(job: OptimizationJob): string {
  if (job.status !== "running") {
    return `${STATUS[job.status]}${job.note === undefined ? "" : `: ${job.note}`}`;
  }
  const index = job.tools.findIndex(({ phase }) => phase !== "complete");
  const tool = job.tools[index];
  if (!tool) return "Finishing";
  const name = `${tool.server}.${tool.toolName}`;
  const place = job.tools.length === 1 ? "" : `, tool ${index + 1}/${job.tools.length}: ${name}`;
  switch (tool.phase) {
    case "queued":
      return `Waiting to start ${name}`;
    case "generating":
      return `Writing ${
        tool.round === undefined ? "prompts" : `candidates (round ${tool.round})`
      } for ${name}${job.tools.length === 1 ? "" : ` (tool ${index + 1}/${job.tools.length})`}`;
    case "promoting":
      return `Deciding on ${name}`;
    default: {
      const part = tool.runsTotal === 0 ? 0 : Math.floor(100 * tool.runsDone / tool.runsTotal);
      const which = tool.candidates === 0
        ? "the description in use"
        : `candidate ${tool.currentCandidate ?? 1}/${tool.candidates}`;
      return `Testing ${which} (${part}% complete)${place}`;
    }
  }
}

const STATUS: Record<Exclude<OptimizationJob["status"], "running">, string> = {
  paused: "Paused",
  completed: "Completed",
  cancelled: "Cancelled",
  failed: "Failed",
};

export function gainText(evaluation: Evaluation, result: DescriptionResult): string {
  const own = evaluation.results.find(({ candidateId }) => candidateId === CANONICAL)?.metrics;
  const { baseline, candidate } = result.paired ??
    { baseline: own, candidate: result.metrics };
  const from = baseline ? percent(baseline.overall) : "no data";
  const gain = gainTextOf(result.verdict ?? {}, baseline?.overall, candidate.overall);
  const prompts = counted(promptsIn(candidate.overall), "prompt");
  return `overall ${from} -> ${percent(candidate.overall)}` +
    (gain ? `, ${gain}, ${prompts}` : "");
}

export function refusalText(evaluation: Evaluation): string {
  const candidates = evaluation.results.filter(({ verdict }) => verdict !== undefined);
  // What was tested on fresh prompts was the best before that.
  const best = candidates.find(({ verdict }) => verdict?.gain !== undefined) ?? bestOf(candidates);
  if (!best?.verdict) return "no candidate was tested";
  const why = failedRules(best) || best.verdict.words;
  return candidates.length === 1
    ? why
    : `the best of ${candidates.length} candidates scored ${
      gainText(evaluation, best)
    }, but ${why}`;
}

export function failedRules({ verdict }: DescriptionResult): string {
  return (verdict?.rules ?? []).filter(({ passed }) => !passed).map(({ words }) => words)
    .join("; ");
}

/** The one with the most overall success, then with the least misuse; of equals the first. */
export function bestOf(results: readonly DescriptionResult[]): DescriptionResult | undefined {
  return results.toSorted((one, other) =>
    rate(other, "overall") - rate(one, "overall") ||
    rate(other, "negative") - rate(one, "negative")
  )[0];
}

function rate({ metrics, paired }: DescriptionResult, which: "overall" | "negative"): number {
  const { correct, total } = (paired?.candidate ?? metrics)[which];
  return total === 0 ? -1 : correct / total;
}

/** A candidate's ancestry in a few words. */
export function lineageText({ lineage }: Pick<ToolCandidate, "lineage">): string | undefined {
  if (lineage === undefined) return undefined;
  const { round, parent, failures, why } = lineage;
  const from = parent === CANONICAL ? "the server's own description" : `"${parent}"`;
  return `Round ${round}, from ${counted(failures, "failure")} of ${from}${
    why === undefined ? "" : `: ${why}`
  }`;
}
