import { CATEGORIES, type GoldenPrompt } from "../core/optimization.ts";

/** One run that is to be made. */
export interface PlannedRun {
  candidateId: string;
  prompt: GoldenPrompt;
  repeat: number;
  /** Whether the prompt is one that a sibling has for itself. */
  isSibling: boolean;
}

export interface RunPlanInput {
  candidateIds: readonly string[];
  prompts: readonly GoldenPrompt[];
  siblingPrompts: readonly GoldenPrompt[];
  repeats: number;
}

/**
 * All runs in the order in which they are made. All descriptions are asked one prompt before any is
 * asked the next, so that what changes with time (a busy model, a new version of it) changes for all
 * of them; and the categories take turns, so that each has data early.
 */
export function planRuns(input: RunPlanInput): PlannedRun[] {
  const groups = [
    ...CATEGORIES.map((category) => input.prompts.filter((prompt) => prompt.category === category)),
    input.siblingPrompts,
  ];
  const inTurn = takeTurns(groups);
  const siblings = new Set(input.siblingPrompts);
  return Array.from({ length: input.repeats }, (_, repeat) => repeat).flatMap((repeat) =>
    inTurn.flatMap((prompt) =>
      input.candidateIds.map((candidateId) => ({
        candidateId,
        prompt,
        repeat,
        isSibling: siblings.has(prompt),
      }))
    )
  );
}

function takeTurns<T>(groups: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => index)
    .flatMap((index) => groups.flatMap((group) => group.slice(index, index + 1)));
}
