import {
  CANONICAL,
  CATEGORIES,
  type PromptCategory,
  Thresholds,
  type Verdict,
} from "../../core/optimization.ts";
import { familyOfModel } from "../../core/model_family.ts";
import type { Theft } from "../evaluation/confusion.ts";
import { alphaOf } from "../evaluation/evidence.ts";
import { pairedMetrics, type PromptPair } from "../evaluation/metrics.ts";
import {
  type Attempt,
  nextAction,
  type Trial,
  TRIAL_LIMITS,
  type TrialPrompt,
} from "../evaluation/procedure.ts";
import {
  DEPTHS,
  mostSiblingPrompts,
  SCREENED,
  takeTurns,
  WRITTEN_AT_ONCE,
} from "../evaluation/selection.ts";
import { confirmedVerdict, promotableFamilies } from "../evaluation/verdict.ts";

/** How often a description gets prompts right. */
export interface Rates extends Record<PromptCategory, number> {
  /** On the prompts of the farthest of its siblings, if it differs from other negative ones. */
  sibling?: number;
}

/**
 * What is true of a tool's descriptions. A prompt has a difficulty that a share `alike` of the answers
 * follow, whatever the description: 0 is noise of single runs, 1 a model that always answers a prompt
 * the same way.
 */
export interface World {
  base: Rates;
  /** Written in the first round. */
  candidates: Rates[];
  /** What the second round writes from failures; later rounds, and all others, write no better ones. */
  second?: Rates;
  /** Promoted already. */
  inForce?: Rates;
  /** What a second model of another family makes of the same descriptions. */
  other?: { base: Rates; candidates: Rates[] };
  alike: number;
}

export const rates = (direct: number, indirect: number, negative = 0.97): Rates => ({
  direct,
  indirect,
  negative,
});

/** By how many percent of prompts they get right, with each category counted alike. */
export const TRUTHS = {
  60: rates(0.6, 0.25, 0.95),
  73: rates(0.75, 0.45),
  76: rates(0.8, 0.53, 0.95),
  83: rates(0.85, 0.67),
  97: rates(0.98, 0.95),
};

/** The best candidate, and three that are like the canonical description. */
export function fourCandidates(
  base: Rates,
  best: Rates = base,
): Pick<World, "base" | "candidates"> {
  return { base, candidates: [best, base, base, base] };
}

export function truthOf({ direct, indirect, negative }: Rates): number {
  return (direct + indirect + negative) / 3;
}

/** Numbers from 0 to 1, always the same for a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface PlayedJob {
  attempts: Attempt[];
  runs: number;
  /** Of the candidate that was confirmed. */
  verdict?: Verdict;
  /** What the job promotes by itself. */
  promoted: boolean;
}

export interface PlayOptions {
  random: () => number;
  /** Default: that of a tool's first test. */
  alpha?: number | undefined;
  rounds?: number | undefined;
  /** Fresh prompts of a category. */
  promptsPerCategory?: number | undefined;
}

const MODELS = ["sonnet", "gpt-5"].map((id) => ({ id, family: familyOfModel(id) ?? "claude" }));
const [FIRST] = MODELS;
const IN_FORCE = "in force";
const MOST_SIBLINGS = 5;

interface SimulatedPrompt extends TrialPrompt {
  /** Whose it is, from 0. */
  sibling?: number | undefined;
}

/** Plays a whole thorough job with the shipped test and verdict; only the model's answers are drawn. */
export function playJob(world: World, options: PlayOptions): PlayedJob {
  return new SimulatedJob(world, options).play();
}

class SimulatedJob {
  readonly #world: World;
  readonly #options: PlayOptions;
  readonly #models: typeof MODELS;
  readonly #scores = new Map<string, number>();
  readonly #difficulties = new Map<string, number>();
  readonly #prompts = new Map<string, SimulatedPrompt>();
  readonly #fresh = new Set<string>();

  constructor(world: World, options: PlayOptions) {
    this.#world = world;
    this.#options = options;
    this.#models = world.other ? MODELS : MODELS.slice(0, 1);
  }

  play(): PlayedJob {
    const { inForce } = this.#world;
    const baselines = [CANONICAL, ...(inForce ? [IN_FORCE] : [])];
    const candidates: string[] = [];
    const parents: string[] = [];
    const screen = Array.from({ length: SCREENED }, () => CATEGORIES.map((one) => this.#make(one)))
      .flat();
    const fresh = this.#firstFresh();
    const { rounds = DEPTHS.thorough.rounds, promptsPerCategory = 80, alpha = FIRST_ALPHA } =
      this.#options;
    const trial: Trial = {
      models: this.#models,
      candidates,
      baselines,
      alpha,
      screen,
      fresh,
      isClosed: false,
      limits: { ...TRIAL_LIMITS, confirm: CATEGORIES.length * promptsPerCategory },
      siblingOf: ({ id }) => this.#prompts.get(id)!.sibling?.toString(),
      writing: { rounds, first: this.#world.candidates.length, prompts: screen, parents },
      // Fresh prompts are asked as the test looks at them: it then says at once how it goes on.
      score: (description, { id }, model) =>
        this.#fresh.has(id)
          ? this.#answer(description, id, model)
          : this.#scores.get(`${model} ${description} ${id}`),
    };
    for (;;) {
      const action = nextAction(trial);
      switch (action.kind) {
        case "end":
          return this.#end(action.attempts, baselines);
        case "write":
          for (let count = 0; count < WRITTEN_AT_ONCE; count++) {
            for (const category of CATEGORIES) fresh.push(this.#make(category, { isFresh: true }));
          }
          break;
        case "reflect":
          parents.push(action.parent);
          for (let count = 0; count < action.count; count++) {
            candidates.push(`c${candidates.length}`);
          }
          break;
        case "run":
          for (const { description, model } of action.runs) {
            this.#answer(description, action.prompt.id, model);
          }
      }
    }
  }

  /**
   * With siblings' prompts among the negative ones. As many as a test ever asks are there at once: a
   * test that has more written looks at the same ones again, which takes much longer.
   */
  #firstFresh(): SimulatedPrompt[] {
    const own = Array.from(
      { length: TRIAL_LIMITS.guard },
      () => CATEGORIES.map((category) => this.#make(category, { isFresh: true })),
    ).flat();
    const siblings = Array.from(
      { length: mostSiblingPrompts(MOST_SIBLINGS, "thorough") },
      (_, at) => this.#make("negative", { isFresh: true, sibling: at % MOST_SIBLINGS }),
    );
    const negative = own.filter(({ category }) => category === "negative");
    return [
      ...own.filter(({ category }) => category !== "negative"),
      ...takeTurns([negative, siblings]),
    ];
  }

  #make(
    category: PromptCategory,
    { isFresh = false, sibling }: { isFresh?: boolean; sibling?: number } = {},
  ): SimulatedPrompt {
    const prompt: SimulatedPrompt = { id: String(this.#prompts.size), category, sibling };
    this.#prompts.set(prompt.id, prompt);
    if (isFresh) this.#fresh.add(prompt.id);
    return prompt;
  }

  /** One run. */
  #answer(description: string, id: string, model: string): number {
    const key = `${model} ${description} ${id}`;
    const known = this.#scores.get(key);
    if (known !== undefined) return known;
    const { random } = this.#options;
    const shared = this.#difficulties.get(id) ?? random();
    this.#difficulties.set(id, shared);
    const { category, sibling } = this.#prompts.get(id)!;
    const own = ratesOf(this.#world, description, model);
    const rate = (sibling === MOST_SIBLINGS - 1 ? own.sibling : undefined) ?? own[category];
    const score = Number((random() < this.#world.alike ? shared : random()) < rate);
    this.#scores.set(key, score);
    return score;
  }

  #end(attempts: Attempt[], baselines: readonly string[]): PlayedJob {
    const runs = this.#scores.size;
    const attempt = attempts.find(({ outcome }) => outcome === "confirmed");
    if (!attempt) return { attempts, runs, promoted: false };
    const models = this.#models.filter(({ family }) => attempt.families?.includes(family) ?? true)
      .map(({ id }) => id);
    const pairsWith = (baseline: string) => this.#pairs(attempt, baseline, models);
    const pairs = pairsWith(CANONICAL);
    const verdict = confirmedVerdict({
      depth: "thorough",
      thresholds: LEAST,
      ...pairedMetrics(pairs),
      pairs,
      inForce: baselines.length > 1 ? pairsWith(IN_FORCE) : undefined,
      thefts: models.flatMap((model) => this.#thefts(attempt.candidate, model)),
      attempt,
      morePrompts: 0,
    });
    const promoted = verdict.promote || promotableFamilies(verdict).length > 0;
    return { attempts, runs, verdict, promoted };
  }

  #pairs(
    { candidate, prompts }: Attempt,
    baseline: string,
    models: readonly string[],
  ): PromptPair[] {
    return prompts.flatMap(({ id, category }) => {
      const of = (description: string) => {
        const all = models.flatMap((model) =>
          this.#scores.get(`${model} ${description} ${id}`) ?? []
        );
        return { correct: all.reduce((sum, one) => sum + one, 0), total: all.length };
      };
      const pair = { promptId: id, category, candidate: of(candidate), baseline: of(baseline) };
      return pair.candidate.total === 0 || pair.baseline.total === 0 ? [] : [pair];
    });
  }

  #thefts(candidate: string, model: string): Theft[] {
    const thefts = Array.from(
      { length: MOST_SIBLINGS },
      (_, at) => ({ tool: `sibling ${at}`, stolen: 0, returned: 0, of: 0 }),
    );
    for (const { id, sibling } of this.#prompts.values()) {
      const theft = sibling === undefined ? undefined : thefts[sibling];
      const after = this.#scores.get(`${model} ${candidate} ${id}`);
      const before = this.#scores.get(`${model} ${CANONICAL} ${id}`);
      if (theft === undefined || after === undefined || before === undefined) continue;
      theft.of++;
      if (after < before) theft.stolen++;
      if (after > before) theft.returned++;
    }
    return thefts.filter(({ of }) => of > 0);
  }
}

const LEAST = Thresholds.parse({});
const FIRST_ALPHA = alphaOf({ earlier: [], now: 0, tools: 1, promoted: 0 });

/** What is true of a description with a model. */
export function ratesOf(
  { base, candidates, second, inForce, other }: World,
  description: string,
  model: string = FIRST!.id,
): Rates {
  if (description === IN_FORCE) return inForce ?? base;
  const at = description === CANONICAL ? -1 : Number(description.slice(1));
  if (model !== FIRST!.id) return other?.candidates[at] ?? other?.base ?? base;
  return candidates[at] ?? (at === candidates.length ? second : undefined) ?? base;
}

export interface Judged {
  /** The confirmed gain is true, for all that it is claimed for. */
  isRight: boolean;
  /** Whether each claim's interval, and each model's, has the truth. */
  intervals: boolean[];
}

/** Whether what a test says of a candidate is true. */
export function judgeAttempt(
  world: World,
  { candidate, families, gains, models }: Attempt,
): Judged {
  const all = MODELS.slice(0, world.other ? 2 : 1);
  const claimed = all.filter(({ family }) => families?.includes(family) ?? true);
  const gainOf = (baseline: string, of: typeof MODELS) =>
    of.reduce(
      (sum, { id }) =>
        sum + truthOf(ratesOf(world, candidate, id)) - truthOf(ratesOf(world, baseline, id)),
      0,
    ) / of.length;
  const covers = (found: Attempt["gains"], of: typeof MODELS) =>
    Object.entries(found).map(([baseline, { low, high }]) => {
      const truth = gainOf(baseline, of);
      return low <= truth && truth <= high;
    });
  const isRight = Object.keys(gains).every((baseline) =>
    gainOf(baseline, claimed) > 0 &&
    claimed.every(({ id }) =>
      isHarmless(ratesOf(world, candidate, id), ratesOf(world, baseline, id))
    )
  );
  const own = (models ?? []).flatMap((one, at) => covers(one.gains, [all[at]!]));
  return { isRight, intervals: [...covers(gains, claimed), ...own] };
}

function isHarmless(after: Rates, before: Rates): boolean {
  const takes = (before.sibling ?? before.negative) - (after.sibling ?? after.negative);
  return takes < 0.5 &&
    CATEGORIES.every((category) => after[category] >= before[category] - TRIAL_LIMITS.margin);
}
