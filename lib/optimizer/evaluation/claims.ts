import { CATEGORIES, type PromptCategory } from "../../core/optimization.ts";
import {
  betsAgainstHarm,
  estimateGain,
  type GainEstimate,
  KIND_WEIGHTS,
  logEvidence,
  logMean,
  type PairedCounts,
  promptsOf,
} from "./evidence.ts";
import type { AttemptOutcome, TrialLimits } from "./procedure.ts";

/** A model whose answers are scored. */
export interface TrialModel {
  id: string;
  /** Missing if it is not known: then it counts only for a gain with all models. */
  family?: string | undefined;
}

/**
 * Something that a test may confirm: a gain with all models together, or with those of one family.
 *
 * A gain is confirmed for all if there is enough evidence of it over the prompts, each of which counts
 * once with the mean of all models, and if each single model is shown to lose no more than the margin
 * on prompts for the tool and on others. If that fails, the same is asked of each family of models.
 * Half of the test's alpha is for the claim about all, the other half is shared by the families, so
 * that a wrong claim of any kind has the same probability as with one model. If all models are of one
 * family that has a promoted description of its own, the claim is about that family.
 */
export interface Claim {
  /** Missing: about all models. */
  family?: string;
  models: readonly string[];
  /** The log of the evidence that it needs. */
  needed: number;
}

/** What a test of several families may spend on the claim about all of them. */
const SHARE_OF_ALL = 0.5;

/** The claim about all comes first. With models of one family there is no other. */
export function claimsOf(
  models: readonly TrialModel[],
  alpha: number,
  /** Families with a promoted description of their own. */
  apart: ReadonlySet<string> = new Set(),
): Claim[] {
  const all = models.map(({ id }) => id);
  const groups = Map.groupBy(models, ({ family }) => family);
  const families = [...groups].flatMap(([family, own]) =>
    family === undefined ? [] : [{ family, models: own.map(({ id }) => id) }]
  );
  if (groups.size < 2 || families.length === 0) {
    const own = families.filter(({ family }) => apart.has(family)).map(({ family }) => ({
      family,
    }));
    return [{ ...own[0], models: all, needed: -Math.log(alpha) }];
  }
  const each = alpha * (1 - SHARE_OF_ALL) / families.length;
  return [
    { models: all, needed: -Math.log(alpha * SHARE_OF_ALL) },
    ...families.map((one) => ({ ...one, needed: -Math.log(each) })),
  ];
}

/** What a test for all models needs of evidence, as a probability. */
export function alphaForAll(models: readonly TrialModel[], alpha: number): number {
  return Math.exp(-claimsOf(models, alpha)[0]!.needed);
}

/** The probability that a candidate that does harm of the margin is taken for harmless. */
const HARM_ALPHA = 0.05;
const LEAST_CONFIRMED = 15;
/** Standard errors of optimism before a candidate is given up. */
const HOPE = 1.8;

/** On prompts for the tool, and on those for others or none. */
type Kinds = [own: PairedCounts, others: PairedCounts];
type Score = number | null | undefined;

/** A claim while its prompts are asked. What was decided once stays so. */
export class ClaimTest {
  readonly claim: Claim;
  readonly #limits: TrialLimits;
  readonly #guard: ReturnType<typeof betsAgainstHarm>;
  /** Against each baseline: of all models together, and of each. */
  readonly #pooled: Kinds[];
  readonly #each: Map<string, Kinds>[];
  readonly #asked: [own: number, others: number] = [0, 0];
  #outcome: AttemptOutcome | undefined;

  constructor(claim: Claim, baselines: number, limits: TrialLimits) {
    this.claim = claim;
    this.#limits = limits;
    this.#guard = betsAgainstHarm(limits.margin);
    this.#pooled = Array.from({ length: baselines }, noKinds);
    this.#each = this.#pooled.map(() => new Map(claim.models.map((model) => [model, noKinds()])));
    this.#outcome = this.#decide();
  }

  get outcome(): AttemptOutcome | undefined {
    return this.#outcome;
  }

  /** The log of the evidence of a gain over every baseline. */
  get log(): number {
    return Math.min(...this.#pooled.map(logOf));
  }

  gains(): GainEstimate[] {
    return this.#pooled.map((pair) => estimateGain(pair));
  }

  gainsOf(model: string): GainEstimate[] {
    return this.#each.map((counts) => estimateGain(counts.get(model) ?? noKinds()));
  }

  /** The categories to ask next. */
  lacking(): readonly PromptCategory[] {
    if (this.log < this.claim.needed) return CATEGORIES;
    return this.#unsafeKind() === 1 ? ["negative"] : ["direct", "indirect"];
  }

  /** There are no further prompts. */
  close(): void {
    this.#outcome ??= "undecided";
  }

  /** The scores of the candidate and a baseline: for each baseline, of each of the claim's models. */
  add(category: PromptCategory, scores: readonly (readonly (readonly [Score, Score])[])[]): void {
    if (this.#outcome !== undefined) return;
    const kind = category === "negative" ? 1 : 0;
    this.#asked[kind]++;
    for (const [at, ofModels] of scores.entries()) {
      const results = ofModels.map(([mine, theirs]) => resultOf(mine, theirs));
      for (const [index, result] of results.entries()) {
        const model = this.claim.models[index]!;
        if (result !== undefined) this.#each[at]!.get(model)![kind][result]++;
      }
      // A prompt that one of the models did not answer compares only what the others did.
      if (results.includes(undefined)) continue;
      // Shares of a prompt: the product of such parts of bets is never more than a bet on their mean,
      // so what they make of 1 is evidence too.
      for (const result of results) {
        this.#pooled[at]![kind][result!] += 1 / results.length;
      }
    }
    this.#outcome = this.#decide();
  }

  #decide(): AttemptOutcome | undefined {
    const { confirm, guard, margin } = this.#limits;
    const each = this.#each.flatMap((counts) => [...counts.values()]);
    if (each.flat().some((one) => isHarmful(one, margin))) return "harm";
    const [own, others] = this.#asked;
    if (this.log < this.claim.needed) {
      const isLost = this.#pooled.some((pair) => isHopeless(pair, confirm, this.claim.needed));
      if (isLost) return "no-gain";
      return own + others >= confirm ? "undecided" : undefined;
    }
    const unsafe = this.#unsafeKind();
    if (unsafe === -1) return "confirmed";
    return this.#asked[unsafe]! >= guard ? "harm" : undefined;
  }

  /** Where harm beyond the margin is not ruled out yet, for any model and baseline; -1: nowhere. */
  #unsafeKind(): number {
    const each = this.#each.flatMap((counts) => [...counts.values()]);
    return this.#asked.findIndex((_, at) =>
      each.some((kinds) => logEvidence(kinds[at]!, this.#guard) < -Math.log(HARM_ALPHA))
    );
  }
}

/** A prompt without a score on both sides compares nothing. */
function resultOf(mine: Score, theirs: Score): keyof PairedCounts | undefined {
  if (typeof mine !== "number" || typeof theirs !== "number") return undefined;
  return mine === theirs ? "ties" : mine > theirs ? "wins" : "losses";
}

function logOf(pair: readonly PairedCounts[]): number {
  return logMean(pair.map((one) => logEvidence(one)), KIND_WEIGHTS);
}

/** Even if the rest went better than so far, there would not be enough evidence in the end. */
function isHopeless(pair: readonly PairedCounts[], most: number, needed: number): boolean {
  const seen = pair.reduce((sum, one) => sum + promptsOf(one), 0);
  if (seen < LEAST_CONFIRMED) return false;
  const hoped = pair.map((one) => {
    const n = promptsOf(one);
    const rest = Math.max(0, most - seen) * n / seen;
    const rate = (count: number, sign: number) => {
      const share = (count + 0.5) / (n + 1);
      return Math.min(
        1,
        Math.max(0, share + sign * HOPE * Math.sqrt(share * (1 - share) / (n + 1))),
      );
    };
    const [win, loss] = [rate(one.wins, 1), rate(one.losses, -1)];
    return {
      wins: one.wins + rest * win,
      losses: one.losses + rest * loss,
      ties: one.ties + rest * Math.max(0, 1 - win - loss),
    };
  });
  return logOf(hoped) < needed;
}

/** Clearly over the margin: further prompts would only cost. */
function isHarmful(counts: PairedCounts, margin: number): boolean {
  return counts.losses - counts.wins > margin * promptsOf(counts) + 3;
}

export function noCounts(): PairedCounts {
  return { wins: 0, losses: 0, ties: 0 };
}

function noKinds(): Kinds {
  return [noCounts(), noCounts()];
}
