import {
  CATEGORIES,
  type Evaluation,
  type GoldenPrompt,
  type JobOptions,
  type PromptCategory,
  type ToolCandidate,
} from "../core/optimization.ts";
import { chooseCandidates, writtenInView } from "./candidate_selection.ts";
import { showsTheft } from "./confusion.ts";
import {
  choosePrompts,
  missingPrompts,
  type WantedPrompts,
  wantedPrompts,
  withHeldOut,
} from "./prompt_selection.ts";

/** What there is of one tool. */
export interface ToolStock {
  server: string;
  tool: string;
  canonical: string;
  prompts: readonly GoldenPrompt[];
  /** When each prompt was first written, by its id. */
  writtenAt: ReadonlyMap<string, number>;
  /** How many prompts of siblings are put to it beside its own. */
  siblingPrompts: number;
  candidates: readonly ToolCandidate[];
  evaluations: readonly Evaluation[];
  inForce?: string | undefined;
}

/** What a tool would be tested with, as far as that can be told before anything is written. */
export interface TestForecast {
  /** The saved prompts that would be chosen, held out as they would be. */
  prompts: GoldenPrompt[];
  wanted: Record<PromptCategory, WantedPrompts>;
  /** How many prompts would be put to each description at most, those of siblings included. */
  asked: number;
  /** How many would decide. */
  deciding: number;
  /** With those that would be written. */
  candidates: number;
  /** How often a model would be asked for texts. */
  generations: number;
}

export function forecastOf(stock: ToolStock, options: JobOptions): TestForecast {
  const { candidates: saved, canonical, inForce, evaluations } = stock;
  const chosen = chooseCandidates({ saved, canonical, options, inForce, evaluations });
  const wanted = wantedPrompts(options, stock.prompts);
  const known = writtenInView(saved, chosen.candidates);
  const held = withHeldOut(stock.prompts, wanted, known, stock.writtenAt);
  const missing = missingPrompts(held, wanted);
  const prompts = choosePrompts(held, wanted);
  const isThorough = options.depth === "thorough";
  const sum = (of: (category: PromptCategory) => number) =>
    CATEGORIES.reduce((all, category) => all + of(category), 0);
  const deciding = sum((category) => {
    if (!isThorough) return wanted[category].all;
    const there = prompts.filter((prompt) => prompt.heldOut && prompt.category === category).length;
    return there + (options.generate ? missing[category].heldOut : 0);
  });
  const isMissingPrompts = options.generate && sum((category) => missing[category].all) > 0;
  return {
    prompts,
    wanted,
    asked: deciding + (isThorough ? theftPrompts() : 0) + stock.siblingPrompts,
    deciding,
    candidates: chosen.candidates.length + chosen.missing,
    generations: (isMissingPrompts ? 1 : 0) + (chosen.missing > 0 ? 1 : 0),
  };

  /** Own ones that decide nothing and show what is taken; those that are written name whose they are. */
  function theftPrompts(): number {
    const { all, heldOut } = missing.negative;
    const there = prompts.filter((prompt) => !prompt.heldOut && showsTheft(prompt)).length;
    const most = wanted.negative.all - wanted.negative.heldOut;
    return options.generate ? Math.min(most, there + all - heldOut) : there;
  }
}
