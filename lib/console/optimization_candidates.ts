import type { Depth, Metrics, ToolCandidate } from "../core/optimization.ts";
import { rateOf } from "../optimizer/metrics.ts";
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
    const { id, description, example, charCount, origin, createdAt, evidence } = candidate;
    const isInForce = promotion?.candidateId === id;
    // What it was promoted on stands, also when the server has since changed its own description.
    const kept = isInForce && promotion.metrics !== undefined ? promotion : undefined;
    const metrics = kept?.metrics ?? evidence?.metrics;
    const baseline = kept?.baseline ?? evidence?.baseline;
    const depth = kept?.depth ?? evidence?.depth;
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

/** One that may be promoted before one that may not; then by overall success; of equals the newest. */
export function bestCandidate(candidates: readonly CandidateView[]): CandidateView | undefined {
  const worth = ({ refusal, metrics }: CandidateView) =>
    (refusal === undefined ? 2 : 0) + (metrics ? rateOf(metrics.overall) ?? -1 : -1);
  return candidates.toReversed().toSorted((one, other) => worth(other) - worth(one))[0];
}
