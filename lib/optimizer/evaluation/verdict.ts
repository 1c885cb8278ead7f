import {
  CATEGORIES,
  type CategoryScores,
  type Depth,
  type PromptCategory,
  type SuccessCount,
  Thresholds,
  type Verdict,
} from "../../core/optimization.ts";
import type { Theft } from "./confusion.ts";
import {
  besideText,
  exactTest,
  pairedMetrics,
  type PromptPair,
  scoreText,
  signTest,
} from "./metrics.ts";
import { missingCategories, type Rule, thresholdRules } from "./rules.ts";

/** The most that chance alone may explain in a thorough evaluation. */
const MOST_CHANCE = 0.05;
/** What the spec asks in a category. */
const USUAL_PROMPTS = 5;
/** A difference that shows only after so many more prompts is too small to look for. */
const MOST_FURTHER_PROMPTS = 300;

export interface VerdictInput {
  depth: Depth;
  candidate: CategoryScores;
  baseline: CategoryScores;
  thresholds: Thresholds;
  thefts: readonly Theft[];
  /** What decides: only prompts that were put to both descriptions can compare them. */
  pairs: readonly PromptPair[];
  /** The runs came from a caller. */
  isReported?: boolean;
  /** How many candidates were tested together; default: 1. */
  candidates?: number;
  /** How many tools of other servers were shown beside the server's own. */
  beside?: number;
  /** The description that `baseline` belongs to, if not the canonical one. */
  whose?: string;
}

/** Runs to come, or runs of one description that the other has no counterpart for. */
export interface Sides<T> {
  candidate: Record<PromptCategory, T>;
  baseline: Record<PromptCategory, T>;
}

/** Whether a candidate may be promoted automatically, with the evidence. */
export function judge(input: VerdictInput): Verdict {
  const rules = verdictRules(input);
  const promote = isPromoted(input, rules);
  const failed = rules.filter(({ passed }) => !passed);
  const evidence = evidenceWords(input);
  if (promote) {
    const chance = rules.find(({ rule }) => rule === "significance");
    const words = `Promote: ${evidence}${chance ? `; ${chance.words}` : ""}.`;
    return { promote: true, depth: input.depth, words, rules };
  }
  const reasons = failed.map(({ words }) => words).join("; ");
  const more = failed.every(({ rule }) => rule === "evidence" || rule === "significance")
    ? whatWouldTell(input)
    : undefined;
  const start = more === undefined
    ? `Do not promote: ${reasons}`
    : `Do not promote, not enough evidence: ${moreWords(more)} would tell; ${reasons}`;
  return {
    promote: false,
    depth: input.depth,
    words: `${start}; ${evidence}.`,
    rules,
    ...more,
  };
}

/** The spec's rule alone, on counts. */
export function shouldPromote(
  candidate: CategoryScores,
  baseline: CategoryScores,
  thresholds: Thresholds = Thresholds.parse({}),
): boolean {
  return missingCategories(candidate, baseline).length === 0 &&
    thresholdRules(candidate, baseline, thresholds).every(({ passed }) => passed);
}

/** Each rule with its outcome. */
export function verdictRules(input: VerdictInput): Rule[] {
  const { candidate, baseline } = pairedMetrics(input.pairs);
  return [
    evidenceRule(input, candidate, baseline),
    ...thresholdRules(candidate, baseline, input.thresholds, input.whose),
    siblingsRule(input.thefts),
    ...(input.depth === "thorough" ? [significanceRule(input)] : []),
  ];
}

/** The spec's rule on what both have answered, and what is asked beside it. */
export function isPromoted({ pairs, thresholds }: VerdictInput, rules: readonly Rule[]): boolean {
  const { candidate, baseline } = pairedMetrics(pairs);
  return shouldPromote(candidate, baseline, thresholds) && rules.every(({ passed }) => passed);
}

/** How many prompts have to decide at least: with fewer, chance explains it if all are better. */
export function leastDeciding(candidates: number): number {
  let prompts = 1;
  while (signTest(prompts, 0) > mostChance({ candidates })) prompts++;
  return prompts;
}

/** Said where so few prompts decide a thorough evaluation that nothing can be promoted. */
export function tooFewPrompts(deciding: number, candidates: number): string | undefined {
  const least = leastDeciding(candidates);
  if (deciding >= least) return undefined;
  return `only ${deciding} ${plural(deciding, "prompt")} can decide, and it takes at least ` +
    `${least}${
      candidates > 1 ? ` for ${candidates} candidates` : ""
    }: even a candidate that does ` +
    "better on all of them could do so by chance";
}

/** Of several candidates one is likelier to look good by chance, so that they share what is allowed. */
export function mostChance({ candidates = 1 }: Pick<VerdictInput, "candidates">): number {
  return MOST_CHANCE / Math.max(1, candidates);
}

function evidenceRule(
  input: VerdictInput,
  candidate: CategoryScores,
  baseline: CategoryScores,
): Rule {
  const rule = "evidence";
  const missing = missingCategories(candidate, baseline);
  if (missing.length > 0) {
    const kinds = missing.length === CATEGORIES.length ? "any" : missing.join(" or ");
    const words = `there is no data on ${kinds} prompts tested with both descriptions`;
    return { rule, passed: false, words };
  }
  const lone = loneRuns(input);
  if (input.isReported && lone > 0) {
    const words = `the reported runs are incomplete: ${lone} ${plural(lone, "run")} without a ` +
      "counterpart for the other description";
    return { rule, passed: false, words };
  }
  if (input.isReported) {
    const words = "the runs were reported by a caller; the gateway measured none of them";
    return { rule, passed: false, words };
  }
  const empty = CATEGORIES.filter((category) => candidate[category].total === 0);
  const words = empty.length === 0
    ? "there is data on every category of prompts"
    : `there is data to decide on, but none on ${empty.join(" and ")} prompts`;
  return { rule, passed: true, words };
}

function siblingsRule(thefts: readonly Theft[]): Rule {
  const words = thefts.map(({ tool, stolen, of }) =>
    `takes ${stolen} of ${of} ${plural(of, "prompt")} that ${of === 1 ? "is" : "are"} meant for ` +
    `"${tool}" and that it left alone before`
  );
  return {
    rule: "siblings",
    passed: thefts.length === 0,
    words: words.join("; ") ||
      "takes no prompt that is meant for another tool and that it left alone before",
  };
}

function significanceRule(input: VerdictInput): Rule {
  const { candidates = 1 } = input;
  const { better, worse, ties, p } = exactTest(input.pairs);
  const counts = `better on ${better} ${plural(better, "prompt")}, worse on ${worse}, ` +
    `the same on ${ties}`;
  const chance = p < 0.001 ? "p < 0.001" : `p = ${roundedUp(p, candidates > 1 ? 4 : 3)}`;
  const passed = p <= mostChance(input);
  const shared = candidates > 1 ? `, as ${candidates} candidates share ${MOST_CHANCE}` : "";
  const needed = passed && shared === ""
    ? ""
    : `, at most ${roundedDown(mostChance(input))} needed${shared}`;
  return { rule: "significance", passed, words: `${counts} (${chance}${needed})` };
}

function evidenceWords(input: VerdictInput): string {
  const { pairs, depth } = input;
  const { candidate, baseline } = pairedMetrics(pairs);
  const counts = CATEGORIES.map((category) =>
    `${pairs.filter((pair) => pair.category === category).length} ${category}`
  );
  const runs = candidate.overall.total + baseline.overall.total;
  const lone = loneRuns(input);
  return `${depth} evidence from ${pairs.length} ${plural(pairs.length, "prompt")} ` +
    `(${counts.join(", ")}; ${runs} ${plural(runs, "run")}` +
    `${lone > 0 ? `, ${lone} without a counterpart left out` : ""}` +
    `${input.isReported ? ", reported by the caller" : ""}` +
    `${input.beside ? `; ${besideText(input.beside)}` : ""}): ` +
    `overall ${scoreText(candidate.overall)}, before ${scoreText(baseline.overall)}`;
}

/** What a verdict lacks: runs, and the prompts that they are for where those are lacking. */
type More = { moreRuns: number } & Pick<Verdict, "morePrompts">;

/** The least at the rates seen so far; undefined where no number is likely to. */
function whatWouldTell(input: VerdictInput): More | undefined {
  const { pairs } = input;
  const paired = pairedMetrics(pairs);
  const runs = paired.candidate.overall.total + paired.baseline.overall.total;
  const runsPerPrompt = pairs.length === 0 ? 2 : Math.ceil(runs / pairs.length);
  const missing = missingCategories(paired.candidate, paired.baseline);
  const lone = loneByCategory(input);
  let [counterparts, prompts] = [0, 0];
  for (const category of CATEGORIES) {
    const unpaired = lone.candidate[category].total + lone.baseline[category].total;
    const isMissing = missing.includes(category);
    if (unpaired > 0 && (input.isReported || isMissing)) counterparts += unpaired;
    else if (isMissing) prompts += USUAL_PROMPTS;
  }
  if (counterparts + prompts > 0) {
    return lacking(input, counterparts + prompts * runsPerPrompt, prompts);
  }
  // Reported runs never replace the gateway's own measurements, however many there are.
  if (input.isReported) return undefined;
  const { better, worse } = exactTest(pairs);
  for (let further = 1; further <= MOST_FURTHER_PROMPTS; further++) {
    const growth = 1 + further / pairs.length;
    // Rounded to the candidate's disadvantage: a promise of too few would be broken. The hair
    // keeps a product such as 3 * (1 + 1 / 3) whole.
    const p = signTest(Math.floor(better * growth + 1e-9), Math.ceil(worse * growth - 1e-9));
    if (p <= mostChance(input)) return lacking(input, further * runsPerPrompt, further);
  }
  return undefined;
}

/** Repeats of prompts that decided already tell a thorough evaluation nothing. */
function lacking({ depth }: VerdictInput, moreRuns: number, prompts: number): More {
  return { moreRuns, ...(depth === "thorough" && prompts > 0 ? { morePrompts: prompts } : {}) };
}

function moreWords({ moreRuns, morePrompts }: More): string {
  if (morePrompts === undefined) return `${moreRuns} more ${plural(moreRuns, "run")}`;
  return `${morePrompts} more ${plural(morePrompts, "prompt")} that whoever wrote the candidates ` +
    `did not know (${moreRuns} ${plural(moreRuns, "run")})`;
}

/** Runs on prompts that only one description has answered so far. */
export function loneByCategory(input: VerdictInput): Sides<SuccessCount> {
  const paired = pairedMetrics(input.pairs);
  const of = (side: "candidate" | "baseline", category: PromptCategory): SuccessCount => {
    const [all, used] = [input[side][category], paired[side][category]];
    const correct = Math.max(0, all.correct - used.correct);
    const wrong = Math.max(0, all.total - all.correct - (used.total - used.correct));
    return { correct, total: correct + wrong };
  };
  const sideOf = (side: "candidate" | "baseline") => ({
    direct: of(side, "direct"),
    indirect: of(side, "indirect"),
    negative: of(side, "negative"),
  });
  return { candidate: sideOf("candidate"), baseline: sideOf("baseline") };
}

function loneRuns(input: VerdictInput): number {
  const lone = loneByCategory(input);
  return [...Object.values(lone.candidate), ...Object.values(lone.baseline)]
    .reduce((sum, { total }) => sum + total, 0);
}

function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

/** Never shows more certainty than there is: 0.0504 is not 0.05. */
function roundedUp(p: number, digits: number): string {
  return String(Math.ceil(p * 10 ** digits - 1e-9) / 10 ** digits);
}

function roundedDown(p: number): string {
  return String(Math.floor(p * 10_000 + 1e-9) / 10_000);
}
