import {
  CATEGORIES,
  type Depth,
  descriptionHash,
  type Evaluation,
  type GoldenPrompt,
  type JobOptions,
  type PromptCategory,
  textHash,
  type TextOrigin,
  type ToolCandidate,
} from "../../core/optimization.ts";
import { type OwnParameterTexts, unknownParameters } from "../../core/tool_text.ts";
import { GatewayError } from "../../core/errors.ts";
import { byCategory } from "./metrics.ts";
import { TRIAL_LIMITS } from "./procedure.ts";
import { isRefuted } from "./verdict.ts";
import { MOST_SIBLINGS } from "../targets.ts";

/** How many prompts of a category are asked at most, how often each, and how often texts are written. */
export const DEPTHS: Record<
  Depth,
  { promptsPerCategory: number; repeats: number; rounds: number }
> = {
  quick: { promptsPerCategory: 5, repeats: 1, rounds: 1 },
  thorough: {
    promptsPerCategory: TRIAL_LIMITS.confirm / CATEGORIES.length,
    repeats: 1,
    rounds: 3,
  },
};

/** Rounds of writing; none if only saved or chosen candidates are tested. */
export function roundsOf({ depth, rounds, generate, candidateIds }: JobOptions): number {
  return generate && candidateIds === undefined ? rounds ?? DEPTHS[depth].rounds : 0;
}

/** Prompts of a category that several candidates are screened on before the best is tested. */
export const SCREENED = 10;
/** Fresh prompts of a category that are written at a time. */
export const WRITTEN_AT_ONCE = 12;
/** If nothing may be written: the share of the saved prompts that stay unseen by the screening. */
const FRESH_SHARE = 0.6;

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
  candidates: number,
): Record<PromptCategory, WantedPrompts> {
  const most = promptsPerCategory ?? DEPTHS[depth].promptsPerCategory;
  const isScreened = candidates > 1;
  return byCategory((category) => {
    const count = ofCategory(saved, category).length;
    if (depth === "quick") {
      return { all: generate ? most : Math.min(promptsPerCategory ?? count, count), heldOut: 0 };
    }
    if (!generate) {
      const heldOut = isScreened ? Math.ceil(count * FRESH_SHARE - 1e-9) : count;
      return { all: count, heldOut };
    }
    const heldOut = Math.min(most, WRITTEN_AT_ONCE);
    return { all: heldOut + (isScreened ? SCREENED : 0), heldOut };
  });
}

/** As many as can be fresh: all but those that candidates are screened on. */
export function mostHeldOut(
  wanted: Record<PromptCategory, WantedPrompts>,
  saved: readonly GoldenPrompt[],
): Record<PromptCategory, WantedPrompts> {
  return byCategory((category) => {
    const { all, heldOut } = wanted[category];
    const spare = ofCategory(saved, category).length - (all - heldOut);
    return { all, heldOut: heldOut === 0 ? 0 : Math.max(heldOut, spare) };
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
    // All that are fresh may be asked, one after the other.
    const heldOut = wanted[category].heldOut === 0 ? [] : mine.filter((prompt) => prompt.heldOut);
    const others = mine.filter((prompt) => !heldOut.includes(prompt));
    return [
      ...heldOut,
      ...others.slice(0, Math.max(0, wanted[category].all - wanted[category].heldOut)),
    ];
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
  /** The parameters that the tool has. */
  parameters?: OwnParameterTexts;
  options: JobOptions;
  /** The candidate that is promoted now: the others have to beat it. */
  inForce?: string | undefined;
  /** Newest first. */
  evaluations: readonly Evaluation[];
}): { candidates: ToolCandidate[]; missing: number } {
  const { saved, canonical, parameters, options, inForce, evaluations } = input;
  const { candidateIds, candidatesPerTool, generate, depth } = options;
  if (candidateIds) {
    const named = [...new Set(candidateIds)].filter((id) => id !== inForce)
      .flatMap((id) => saved.find((candidate) => candidate.id === id) ?? []);
    return { candidates: named, missing: 0 };
  }
  const promoted = saved.find(({ id }) => id === inForce);
  const seen = new Set([{ description: canonical }, ...(promoted ? [promoted] : [])].map(textHash));
  const fit = saved.filter((candidate) => {
    const hash = textHash(candidate);
    if (seen.has(hash)) return false;
    seen.add(hash);
    if (parameters && unknownParameters(candidate, parameters).length > 0) return false;
    // If others can be written, there is no point in testing a refused one again.
    return !generate || !isRefused(candidate.id, depth, evaluations);
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

/** Direct prompts of each sibling: that many are written for one that has none. */
export const PROMPTS_EACH: Record<Depth, number> = { quick: 4, thorough: 6 };

/** Siblings' direct prompts, as negative ones: they show whether a description takes their work. */
export function chooseSiblingPrompts(
  saved: readonly GoldenPrompt[],
  /** Own names, those that matter most first; without the tool itself. */
  siblings: readonly string[],
  depth: Depth,
): GoldenPrompt[] {
  const chosen = siblings.map((sibling) =>
    saved.filter(({ toolName, category, expectedBehavior }) =>
      toolName === sibling && category === "direct" && expectedBehavior.shouldCallTool
    ).slice(0, PROMPTS_EACH[depth])
  );
  // In turns: a test that ends early has asked some of each.
  return takeTurns(chosen.filter(({ length }) => length > 0).slice(0, MOST_SIBLINGS))
    .map(asSiblingPrompt);
}

export function mostSiblingPrompts(siblings: number, depth: Depth): number {
  return Math.min(MOST_SIBLINGS, siblings) * PROMPTS_EACH[depth];
}

export function asSiblingPrompt(prompt: GoldenPrompt): GoldenPrompt {
  return {
    ...prompt,
    category: "negative",
    expectedBehavior: { shouldCallTool: false, expectedTool: prompt.toolName },
  };
}

export function takeTurns<T>(groups: readonly (readonly T[])[]): T[] {
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
