import {
  CATEGORIES,
  descriptionHash,
  type GoldenPrompt,
  type JobOptions,
  type Origin,
  type PromptCategory,
} from "../core/optimization.ts";
import { DEPTHS } from "./depths.ts";

/** How many prompts of a category are asked, and how many of these what writes candidates never sees. */
export interface WantedPrompts {
  all: number;
  heldOut: number;
}

/** What people wrote comes before what was generated. */
const PREFERENCE: Record<Origin, number> = { person: 0, caller: 1, generated: 2 };

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

/** How many have to be written. */
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

/** The prompts that are asked, so many of each category. */
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

/** So many of these to hold out: the same ones every time. */
export function chooseHeldOut<T extends { id: string }>(prompts: readonly T[], count: number): T[] {
  const hashed = prompts.map((prompt) => ({ prompt, hash: descriptionHash(prompt.id) }));
  return hashed.sort((one, other) => one.hash < other.hash ? -1 : 1).slice(0, Math.max(0, count))
    .map(({ prompt }) => prompt);
}

/**
 * Versions of saved prompts that are held out from here on, where too few are. Only those that no
 * generated candidate can have seen: the rest can no longer be.
 */
export function heldOutVersions(
  saved: readonly GoldenPrompt[],
  wanted: Record<PromptCategory, WantedPrompts>,
  /** When candidates were generated. */
  generatedAt: readonly string[],
): GoldenPrompt[] {
  const last = Math.max(-Infinity, ...generatedAt.map((time) => Date.parse(time)));
  const missing = missingPrompts(saved, wanted);
  return CATEGORIES.flatMap((category) => {
    const unseen = ofCategory(saved, category)
      .filter((prompt) => !prompt.heldOut && Date.parse(prompt.createdAt) > last);
    return chooseHeldOut(unseen, missing[category].heldOut)
      .map((prompt) => ({ ...prompt, version: prompt.version + 1, heldOut: true }));
  });
}

function ofCategory(prompts: readonly GoldenPrompt[], category: PromptCategory): GoldenPrompt[] {
  return prompts.filter((prompt) => prompt.category === category);
}

function byCategory<T>(valueOf: (category: PromptCategory) => T): Record<PromptCategory, T> {
  return {
    direct: valueOf("direct"),
    indirect: valueOf("indirect"),
    negative: valueOf("negative"),
  };
}
