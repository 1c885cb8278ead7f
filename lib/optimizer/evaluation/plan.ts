import {
  CATEGORIES,
  type Depth,
  type GoldenPrompt,
  type JobOptions,
  type PromptCategory,
} from "../../core/optimization.ts";
import { GatewayError } from "../../core/errors.ts";
import type { WantedPrompts } from "./selection.ts";

export const DEPTHS: Record<
  Depth,
  {
    promptsPerCategory: number;
    repeats: number;
    /** The share of prompts that what writes candidates never sees; where there are any, they alone decide. */
    heldOutShare: number;
  }
> = {
  quick: { promptsPerCategory: 5, repeats: 1, heldOutShare: 0 },
  thorough: { promptsPerCategory: 12, repeats: 3, heldOutShare: 0.4 },
};

/**
 * Whether what does best is put to the same prompts once more before it is promoted: the best of
 * several is often the luckiest.
 */
export function hasConfirmation(
  { depth, autoPromote }: Pick<JobOptions, "depth" | "autoPromote">,
  candidates: number,
): boolean {
  return depth === "quick" && autoPromote && candidates > 1;
}

/** The descriptions that it is about: the best candidate and the server's own. */
export const CONFIRMED_DESCRIPTIONS = 2;

export interface PlannedRun {
  candidateId: string;
  prompt: GoldenPrompt;
  repeat: number;
  /** Whether the prompt is one that a sibling has for itself. */
  isSibling: boolean;
}

interface RunPlanInput {
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

interface Checked {
  server: string;
  tool: string;
  prompts: readonly GoldenPrompt[];
  wanted: Record<PromptCategory, WantedPrompts>;
}

/** In words where fewer prompts are held out than should be. */
export function heldOutWarnings(checked: Checked): string[] {
  return lackingOf(checked).map(({ category, wanted, count }) =>
    `Only ${count} of the ${wanted} ${category} prompts that should decide were held out from ` +
    "whoever wrote the candidates"
  );
}

/**
 * CANNOT_EVALUATE where a category has no prompt that is held out: what whoever wrote the candidates
 * knew decides nothing.
 */
export function knownToWriters(checked: Checked): GatewayError | undefined {
  const none = lackingOf(checked).filter(({ count }) => count === 0)
    .map(({ category }) => category);
  if (none.length === 0) return undefined;
  const name = `${checked.server}.${checked.tool}`;
  return new GatewayError("CANNOT_EVALUATE", {
    message: `Cannot test "${name}" thoroughly: whoever wrote the candidates may have known ` +
      `every ${none.join(" and every ")} prompt`,
    recoveryAction:
      "Let prompts be written, save some after the candidates, or test at the depth quick",
    recoverySteps: [
      `Save further prompts for "${name}": nobody who wrote the candidates knew what is saved ` +
      "after them",
      "Or start an optimization that may write prompts",
      "Or test at the depth quick, where prompts that were known count too",
    ],
  });
}

function lackingOf({ prompts, wanted }: Checked) {
  return CATEGORIES.map((category) => ({
    category,
    wanted: wanted[category].heldOut,
    count: prompts.filter((prompt) => prompt.heldOut && prompt.category === category).length,
  })).filter((one) => one.count < one.wanted);
}
