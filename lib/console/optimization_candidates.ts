import type { Depth, Metrics, PromotedTool, ToolCandidate } from "../core/optimization.ts";
import { promptsIn, rateOf } from "../optimizer/metrics.ts";
import { type Evidence, refusalOf } from "../surfaces/optimization/evidence.ts";
import type { ToolOptimizationDetail } from "../surfaces/optimization_admin.ts";

/** A candidate with what is known of it. */
export interface CandidateView {
  id: string;
  /** "Candidate 2": by the order in which they came. */
  label: string;
  description: string;
  example?: string;
  chars: number;
  origin: ToolCandidate["origin"];
  createdAt: string;
  isInForce: boolean;
  /** What its numbers, its verdict and its refusal all come from. */
  evidence: Evidence | null;
  /** What its numbers are and what they are compared with. */
  metrics?: Metrics;
  baseline?: Metrics;
  depth?: Depth;
  /** Why it may not be promoted without a reason; missing where it may. */
  refusal?: string;
  /** Where it would be good to look first. */
  isBest: boolean;
}

/** In the order in which they came. */
export function candidateViews(detail: ToolOptimizationDetail): CandidateView[] {
  const { promotion } = detail;
  const views = detail.candidates.map((candidate, index): CandidateView => {
    const { id, description, example, charCount, origin, createdAt } = candidate;
    const isInForce = promotion?.candidateId === id;
    // What it was promoted on stands, also when the server has since changed its own description.
    const evidence = (isInForce ? promotedOn(promotion, detail) : undefined) ?? candidate.evidence;
    const { metrics, baseline, depth } = evidence ?? {};
    const refusal = refusalOf(evidence ?? undefined);
    return {
      id,
      label: `Candidate ${index + 1}`,
      description,
      ...(example === undefined ? {} : { example }),
      chars: charCount,
      origin,
      createdAt,
      isInForce,
      evidence,
      ...(metrics === undefined ? {} : { metrics }),
      ...(baseline === undefined ? {} : { baseline }),
      ...(depth === undefined ? {} : { depth }),
      ...(refusal === undefined ? {} : { refusal }),
      isBest: false,
    };
  });
  const best = bestCandidate(views);
  return views.map((view) => ({ ...view, isBest: view === best && view.metrics !== undefined }));
}

/** What went on record with a promotion; undefined where that was no number. */
function promotedOn(
  promotion: PromotedTool,
  { evaluations }: Pick<ToolOptimizationDetail, "evaluations">,
): Evidence | undefined {
  const { candidateId, metrics, baseline, depth, evaluationId, verdict } = promotion;
  if (!metrics || !baseline || !depth) return undefined;
  const evaluation = evaluations.find(({ id }) => id === evaluationId);
  const result = evaluation?.results.find((one) => one.candidateId === candidateId);
  return {
    source: promotion.source ?? "measured",
    depth,
    metrics,
    baseline,
    prompts: promptsIn(metrics.overall),
    errors: result?.errors ?? 0,
    ...(evaluationId === undefined ? {} : { evaluationId }),
    time: evaluation?.endedAt ?? promotion.promotedAt,
    ...(verdict === undefined ? {} : { verdict }),
  };
}

/** One that may be promoted before one that may not; then by overall success; of equals the newest. */
export function bestCandidate(candidates: readonly CandidateView[]): CandidateView | undefined {
  const worth = ({ refusal, metrics }: CandidateView) =>
    (refusal === undefined ? 2 : 0) + (metrics ? rateOf(metrics.overall) ?? -1 : -1);
  return candidates.toReversed().toSorted((one, other) => worth(other) - worth(one))[0];
}
