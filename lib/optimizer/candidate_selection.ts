import type { Depth, Evaluation, JobOptions, ToolCandidate } from "../core/optimization.ts";

export interface CandidateSelectionInput {
  /** Oldest first. */
  saved: readonly ToolCandidate[];
  canonical: string;
  options: JobOptions;
  /** The candidate that is promoted now: whoever replaces it has to be better than it. */
  inForce?: string | undefined;
  /** Newest first. */
  evaluations: readonly Evaluation[];
}

/** The candidates to be tested, and how many more have to be written. */
export function chooseCandidates(
  input: CandidateSelectionInput,
): { candidates: ToolCandidate[]; missing: number } {
  const { saved, canonical, options, inForce, evaluations } = input;
  const { candidateIds, candidatesPerTool, generate, depth, autoPromote } = options;
  if (candidateIds) {
    // What is replaced is tested as well.
    const replaced = autoPromote && inForce !== undefined ? [inForce] : [];
    const named = [...new Set([...candidateIds, ...replaced])].flatMap((id) =>
      saved.find((candidate) => candidate.id === id) ?? []
    );
    return { candidates: named, missing: 0 };
  }
  const place = ({ id }: ToolCandidate) => id === inForce ? 0 : 1;
  const seen = new Set([canonical]);
  const fit = saved.toSorted((one, other) => place(one) - place(other)).filter((candidate) => {
    if (seen.has(candidate.description)) return false;
    seen.add(candidate.description);
    // Where others can be written, it is no use to test again what was refused.
    return place(candidate) === 0 || !generate || !isRefused(candidate.id, depth, evaluations);
  });
  const candidates = fit.slice(0, candidatesPerTool);
  const missing = generate ? Math.max(0, candidatesPerTool - candidates.length) : 0;
  return { candidates, missing };
}

/** Whose writers may have known prompts: all that a model wrote, and all that is tested. */
export function writtenInView(
  saved: readonly ToolCandidate[],
  tested: readonly ToolCandidate[],
): ToolCandidate[] {
  return saved.filter((one) => one.origin === "generated" || tested.includes(one));
}

/** Whether the last evaluation of it that says something says no. */
function isRefused(id: string, depth: Depth, evaluations: readonly Evaluation[]): boolean {
  const telling = evaluations.filter((evaluation) =>
    evaluation.void === undefined && (evaluation.depth === depth || evaluation.depth === "thorough")
  );
  const [verdict] = telling.flatMap(({ results }) =>
    results.find(({ candidateId }) => candidateId === id)?.verdict ?? []
  );
  return verdict !== undefined && !verdict.promote && verdict.moreRuns === undefined;
}
