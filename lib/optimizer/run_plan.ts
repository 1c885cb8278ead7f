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
  /** Those that the counts rest on. */
  prompts: readonly GoldenPrompt[];
  /** Own prompts that count in no category, and show what is taken from others. */
  otherPrompts?: readonly GoldenPrompt[];
  siblingPrompts: readonly GoldenPrompt[];
  repeats: number;
}

/**
 * All runs in the order in which they are made. What counts comes first: a description that fails
 * there need not be asked what it takes from others. All descriptions are asked one prompt before
 * any is asked the next, so that what changes with time (a busy model, a new version of it) changes
 * for all of them; and the categories take turns, so that each has data early.
 */
export function planRuns(input: RunPlanInput): PlannedRun[] {
  const { otherPrompts = [], siblingPrompts } = input;
  const siblings = new Set(siblingPrompts);
  const counting = takeTurns(
    CATEGORIES.map((category) => input.prompts.filter((prompt) => prompt.category === category)),
  );
  return [counting, takeTurns([otherPrompts, siblingPrompts])].flatMap((prompts) =>
    Array.from({ length: input.repeats }, (_, repeat) => repeat).flatMap((repeat) =>
      prompts.flatMap((prompt) =>
        input.candidateIds.map((candidateId) => ({
          candidateId,
          prompt,
          repeat,
          isSibling: siblings.has(prompt),
        }))
      )
    )
  );
}

function takeTurns<T>(groups: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => index)
    .flatMap((index) => groups.flatMap((group) => group.slice(index, index + 1)));
}
