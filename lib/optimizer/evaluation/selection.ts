import {
  CATEGORIES,
  type Depth,
  descriptionHash,
  type Evaluation,
  type GoldenPrompt,
  type JobOptions,
  type PromptCategory,
  type TextOrigin,
  type ToolCandidate,
} from "../../core/optimization.ts";
import { GatewayError } from "../../core/errors.ts";
import { byCategory } from "./metrics.ts";
import { isRefuted } from "./verdict.ts";

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

/** How many prompts of a category are asked, and how many of these what writes candidates never sees. */
export interface WantedPrompts {
  all: number;
  heldOut: number;
}

/** What people wrote comes before what was generated. */
const PREFERENCE: Record<TextOrigin, number> = { person: 0, caller: 1, generated: 2 };

/** Where nothing may be generated, what is saved is what is wanted. */
export function wantedPrompts(
  { depth, promptsPerCategory, generate }: JobOptions,
  saved: readonly GoldenPrompt[],
): Record<PromptCategory, WantedPrompts> {
  const usual = DEPTHS[depth];
  return byCategory((category) => {
    const count = ofCategory(saved, category).length;
    const all = generate
      ? promptsPerCategory ?? usual.promptsPerCategory
      : Math.min(promptsPerCategory ?? count, count);
    // The hair keeps a product such as 5 * 0.4 whole.
    return { all, heldOut: Math.max(0, Math.ceil(all * usual.heldOutShare - 1e-9)) };
  });
}

export function missingPrompts(
  saved: readonly GoldenPrompt[],
  wanted: Record<PromptCategory, WantedPrompts>,
): Record<PromptCategory, WantedPrompts> {
  return byCategory((category) => {
    const mine = ofCategory(saved, category);
    const heldOut = Math.max(
      0,
      wanted[category].heldOut - mine.filter((prompt) => prompt.heldOut).length,
    );
    return { all: Math.max(heldOut, wanted[category].all - mine.length), heldOut };
  });
}

export function choosePrompts(
  saved: readonly GoldenPrompt[],
  wanted: Record<PromptCategory, WantedPrompts>,
): GoldenPrompt[] {
  return CATEGORIES.flatMap((category) => {
    const mine = ofCategory(saved, category)
      .sort((one, other) => PREFERENCE[one.origin] - PREFERENCE[other.origin]);
    const heldOut = mine.filter((prompt) => prompt.heldOut).slice(0, wanted[category].heldOut);
    const others = mine.filter((prompt) => !heldOut.includes(prompt));
    return [...heldOut, ...others.slice(0, Math.max(0, wanted[category].all - heldOut.length))];
  });
}

export function chooseHeldOut<T extends { id: string }>(prompts: readonly T[], count: number): T[] {
  const hashed = prompts.map((prompt) => ({ prompt, hash: descriptionHash(prompt.id) }));
  return hashed.sort((one, other) => one.hash < other.hash ? -1 : 1).slice(0, Math.max(0, count))
    .map(({ prompt }) => prompt);
}

type Writing = Pick<ToolCandidate, "origin" | "createdAt">;

/** When each prompt was first written, by its id, of all versions: no edit makes one unseen again. */
export function firstWritten(versions: readonly GoldenPrompt[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { id, createdAt } of versions) {
    times.set(id, Math.min(times.get(id) ?? Infinity, Date.parse(createdAt)));
  }
  return times;
}

/** Held out only if nobody who wrote a candidate can have seen them; generation never sees them. */
export function heldOutFrom(
  saved: readonly GoldenPrompt[],
  candidates: readonly Writing[],
  writtenAt: ReadonlyMap<string, number>,
): GoldenPrompt[] {
  const others = candidates.filter(({ origin }) => origin !== "generated");
  return saved.map((prompt) =>
    prompt.heldOut && isSeen(prompt, others, writtenAt) ? { ...prompt, heldOut: false } : prompt
  );
}

/** New versions, held out from now on, of prompts that no writer of these candidates can have seen. */
export function heldOutVersions(
  saved: readonly GoldenPrompt[],
  wanted: Record<PromptCategory, WantedPrompts>,
  candidates: readonly Writing[],
  writtenAt: ReadonlyMap<string, number>,
): GoldenPrompt[] {
  const missing = missingPrompts(saved, wanted);
  return CATEGORIES.flatMap((category) => {
    const unseen = ofCategory(saved, category)
      .filter((prompt) => !prompt.heldOut && !isSeen(prompt, candidates, writtenAt));
    return chooseHeldOut(unseen, missing[category].heldOut)
      .map((prompt) => ({ ...prompt, version: prompt.version + 1, heldOut: true }));
  });
}

/** The saved prompts as heldOutVersions() would leave them: held out where they are so or can be. */
export function withHeldOut(
  saved: readonly GoldenPrompt[],
  wanted: Record<PromptCategory, WantedPrompts>,
  candidates: readonly Writing[],
  writtenAt: ReadonlyMap<string, number>,
): GoldenPrompt[] {
  const prompts = heldOutFrom(saved, candidates, writtenAt);
  const held = new Set(
    heldOutVersions(prompts, wanted, candidates, writtenAt).map(({ id }) => id),
  );
  return prompts.map((prompt) => held.has(prompt.id) ? { ...prompt, heldOut: true } : prompt);
}

function isSeen(
  { id, createdAt }: GoldenPrompt,
  candidates: readonly Writing[],
  writtenAt: ReadonlyMap<string, number>,
): boolean {
  const since = writtenAt.get(id) ?? Date.parse(createdAt);
  return candidates.some((candidate) => Date.parse(candidate.createdAt) >= since);
}

function ofCategory(prompts: readonly GoldenPrompt[], category: PromptCategory): GoldenPrompt[] {
  return prompts.filter((prompt) => prompt.category === category);
}

export function chooseCandidates(input: {
  /** Oldest first. */
  saved: readonly ToolCandidate[];
  canonical: string;
  options: JobOptions;
  /** The candidate that is promoted now: whoever replaces it has to be better than it. */
  inForce?: string | undefined;
  /** Newest first. */
  evaluations: readonly Evaluation[];
}): { candidates: ToolCandidate[]; missing: number } {
  const { saved, canonical, options, inForce, evaluations } = input;
  const { candidateIds, candidatesPerTool, generate, depth } = options;
  if (candidateIds) {
    // Nothing replaces the promoted description without being tested against it.
    const promoted = inForce === undefined ? [] : [inForce];
    const named = [...new Set([...candidateIds, ...promoted])].flatMap((id) =>
      saved.find((candidate) => candidate.id === id) ?? []
    );
    return { candidates: named, missing: 0 };
  }
  const place = ({ id }: ToolCandidate) => id === inForce ? 0 : 1;
  const seen = new Set([canonical]);
  const fit = saved.toSorted((one, other) => place(one) - place(other)).filter((candidate) => {
    if (seen.has(candidate.description)) return false;
    seen.add(candidate.description);
    // If others can be written, there is no point in testing a refused one again.
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

function isRefused(id: string, depth: Depth, evaluations: readonly Evaluation[]): boolean {
  const telling = evaluations.filter((evaluation) =>
    evaluation.void === undefined && (evaluation.depth === depth || evaluation.depth === "thorough")
  );
  const [verdict] = telling.flatMap(({ results }) =>
    results.find(({ candidateId }) => candidateId === id)?.verdict ?? []
  );
  return isRefuted(verdict);
}

const MOST_SIBLINGS = 5;
const PROMPTS_EACH = 2;

/** Siblings' direct prompts, as negative ones: they show whether a description takes their work. */
export function chooseSiblingPrompts(
  saved: readonly GoldenPrompt[],
  /** Own names, those that matter most first; without the tool itself. */
  siblings: readonly string[],
): GoldenPrompt[] {
  const chosen = siblings.map((sibling) =>
    saved.filter(({ toolName, category, expectedBehavior }) =>
      toolName === sibling && category === "direct" && expectedBehavior.shouldCallTool
    ).slice(0, PROMPTS_EACH)
  );
  return chosen.filter(({ length }) => length > 0).slice(0, MOST_SIBLINGS).flat()
    .map(asSiblingPrompt);
}

export function mostSiblingPrompts(siblings: number): number {
  return Math.min(MOST_SIBLINGS, siblings) * PROMPTS_EACH;
}

export function asSiblingPrompt(prompt: GoldenPrompt): GoldenPrompt {
  return {
    ...prompt,
    category: "negative",
    expectedBehavior: { shouldCallTool: false, expectedTool: prompt.toolName },
  };
}

/** Whether the best is tested again before promotion: the best of several is often the luckiest. */
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
  isSibling: boolean;
}

/**
 * All runs in the order in which they are made. What counts comes first: a description that fails
 * there need not be asked what it takes from others. All descriptions are asked one prompt before
 * any is asked the next, so that what changes with time (a busy model, a new version of it) changes
 * for all of them; and the categories take turns, so that each has data early.
 */
export function planRuns(input: {
  candidateIds: readonly string[];
  /** Those that the counts rest on. */
  prompts: readonly GoldenPrompt[];
  /** Own prompts that count in no category, and show what is taken from others. */
  otherPrompts?: readonly GoldenPrompt[];
  siblingPrompts: readonly GoldenPrompt[];
  repeats: number;
}): PlannedRun[] {
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

export function heldOutWarnings(checked: Checked): string[] {
  return lackingOf(checked).map(({ category, wanted, count }) =>
    `Only ${count} of the ${wanted} ${category} prompts needed for a decision were hidden ` +
    "when the candidates were written"
  );
}

/** CANNOT_EVALUATE if a category has no held-out prompt: what writers knew decides nothing. */
export function knownToWriters(checked: Checked): GatewayError | undefined {
  const none = lackingOf(checked).filter(({ count }) => count === 0)
    .map(({ category }) => category);
  if (none.length === 0) return undefined;
  const name = `${checked.server}.${checked.tool}`;
  return new GatewayError("CANNOT_EVALUATE", {
    message: `Cannot test "${name}" thoroughly: all ${none.join(" and ")} prompts may have been ` +
      "visible when the candidates were written",
    recoveryAction: "Generate prompts, save new ones, or use the depth quick",
    recoverySteps: [
      `Save new prompts for "${name}": prompts saved after the candidates were written count`,
      "Or start an optimization that generates prompts",
      "Or use the depth quick, which counts all prompts",
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
