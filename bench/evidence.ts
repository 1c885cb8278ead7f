import { type PromptCategory, Thresholds } from "../lib/core/optimization.ts";
import { sumOf } from "../lib/optimizer/evaluation/metrics.ts";
import { thresholdRules } from "../lib/optimizer/evaluation/verdict.ts";
import { alphaOf } from "../lib/optimizer/evaluation/evidence.ts";
import {
  type Attempt,
  nextAction,
  TRIAL_LIMITS,
  type TrialPrompt,
} from "../lib/optimizer/evaluation/procedure.ts";
import { DEPTHS, SCREENED, WRITTEN_AT_ONCE } from "../lib/optimizer/evaluation/selection.ts";
import { simulatedTrial } from "../lib/optimizer/testing/live_trial_bench.ts";
import { printTable } from "./report.ts";

/**
 * Plays whole jobs of the shipped test with planted truths. A prompt has a difficulty that a share
 * `alike` of the descriptions' answers follow: 0 is noise of single runs, 1 a model that always
 * answers a prompt the same way.
 */
type Rates = Record<PromptCategory, number>;

interface World {
  base: Rates;
  /** Written in the first round. */
  candidates: Rates[];
  /** What the second round writes from failures; later rounds, and all others, write no better ones. */
  second?: Rates;
  /** In the place of `base`, which then is the canonical description. */
  inForce?: Rates;
  /** What a second model of another family makes of the same descriptions. */
  other?: { base: Rates; candidates: Rates[] };
  alike: number;
}

const rates = (direct: number, indirect: number, negative = 0.97): Rates => ({
  direct,
  indirect,
  negative,
});
const truthOf = ({ direct, indirect, negative }: Rates) => (direct + indirect + negative) / 3;
const TRUTHS = {
  60: rates(0.6, 0.25, 0.95),
  73: rates(0.75, 0.45),
  76: rates(0.8, 0.53, 0.95),
  83: rates(0.85, 0.67),
  97: rates(0.98, 0.95),
};
const NOISES = [0, 0.5, 1];
const LEAST = Thresholds.parse({});

let seed = 20_261_118;
function random(): number { // mulberry32
  seed = (seed + 0x6D2B79F5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}

interface Job {
  attempts: Attempt[];
  confirmed?: string;
  runs: number;
  /** Whether the thresholds allow what was confirmed. */
  isAllowed: boolean;
}

const MODELS = [{ id: "one", family: "claude" }, { id: "another", family: "gpt" }];

function playJob(world: World, alpha: number): Job {
  const planted = new Map([["canonical", world.base]]);
  if (world.inForce) planted.set("in force", world.inForce);
  const models = world.other ? MODELS : MODELS.slice(0, 1);
  const baselines = [...planted.keys()];
  const candidates: string[] = [];
  const parents: string[] = [];
  const texts = textsOf(world);
  const scores = new Map<TrialPrompt, Map<string, number>>();
  const fresh: TrialPrompt[] = [];
  const make = (category: PromptCategory): TrialPrompt => {
    const prompt = { id: String(scores.size), category };
    scores.set(prompt, new Map());
    return prompt;
  };
  const screen = Array.from({ length: SCREENED }, () => CATEGORIES.map(make)).flat();
  const trial = {
    models,
    candidates,
    baselines,
    alpha,
    screen,
    fresh,
    isClosed: false,
    limits: TRIAL_LIMITS,
    writing: {
      rounds: Number(flagOf("rounds") ?? DEPTHS.thorough.rounds),
      first: world.candidates.length,
      prompts: screen,
      parents,
    },
    score: (description: string, prompt: TrialPrompt, model: string) =>
      scores.get(prompt)!.get(`${model} ${description}`),
  };
  const difficulty = new Map<TrialPrompt, number>();
  for (let runs = 0;;) {
    const action = nextAction(trial);
    if (action.kind === "end") {
      const last = action.attempts.at(-1)!;
      const deciding = models.filter(({ family }) => last.families?.includes(family) ?? true);
      const metrics = (description: string) =>
        sumOf(deciding.flatMap(({ id }) =>
          last.prompts.flatMap((prompt) => {
            const correct = scores.get(prompt)!.get(`${id} ${description}`);
            return correct === undefined
              ? []
              : [{ category: prompt.category, score: { correct, total: 1 } }];
          })
        ));
      const rules = baselines.flatMap((baseline) =>
        thresholdRules(metrics(last.candidate), metrics(baseline), LEAST)
      );
      return { ...action, runs, isAllowed: rules.every(({ passed }) => passed) };
    }
    if (action.kind === "write") {
      for (let count = 0; count < WRITTEN_AT_ONCE; count++) fresh.push(...CATEGORIES.map(make));
      continue;
    }
    if (action.kind === "reflect") {
      parents.push(action.parent);
      for (let count = 0; count < action.count; count++) {
        const name = `c${candidates.length}`;
        planted.set(name, texts[candidates.length] ?? world.base);
        candidates.push(name);
      }
      continue;
    }
    const { prompt } = action;
    const shared = difficulty.get(prompt) ?? random();
    difficulty.set(prompt, shared);
    for (const { description, model } of action.runs) {
      const draw = random() < world.alike ? shared : random();
      const rates = model === "one" ? planted.get(description)! : ratesOfOther(world, description);
      scores.get(prompt)!.set(`${model} ${description}`, Number(draw < rates[prompt.category]));
      runs++;
    }
  }
}

function ratesOfOther({ other, base }: World, description: string): Rates {
  return other?.candidates[Number(description.slice(1))] ?? other?.base ?? base;
}

/** Of all candidates in the order that they are written in. */
function textsOf({ candidates, second }: World): Rates[] {
  return [...candidates, ...(second ? [second] : [])];
}

const CATEGORIES = ["direct", "indirect", "negative"] as const;

function play(world: World, jobs: number, alpha: number) {
  const sum = {
    right: 0,
    wrong: 0,
    automatic: 0,
    runs: 0,
    intervals: 0,
    covered: 0,
    promoted: 0,
    held: 0,
    /** Confirmed for one family only. */
    some: 0,
  };
  for (let job = 0; job < jobs; job++) {
    const { attempts, runs, isAllowed } = playJob(world, alpha);
    sum.runs += runs;
    for (const { candidate, gains, outcome, families, models } of attempts) {
      const own = textsOf(world)[Number(candidate.slice(1))] ?? world.base;
      const others = ratesOfOther(world, candidate);
      /** What is claimed, and what each model is said to gain. */
      const claimed: [Attempt["gains"], of: string[]][] = [
        [gains, families ?? MODELS.slice(0, world.other ? 2 : 1).map(({ family }) => family)],
        ...(models ?? []).map((
          one,
          at,
        ): [Attempt["gains"], string[]] => [one.gains, [MODELS[at]!.family]]),
      ];
      const isCovered = claimed.every(([gains, of]) =>
        Object.entries(gains).every(([baseline, { low, high }]) => {
          const before = baseline === "canonical" ? world.base : world.inForce!;
          const truths = of.map((family) =>
            family === "claude"
              ? truthOf(own) - truthOf(before)
              : truthOf(others) - truthOf(world.other!.base)
          );
          const truth = truths.reduce((sum, one) => sum + one, 0) / truths.length;
          return low <= truth && truth <= high;
        })
      );
      sum.intervals++;
      sum.covered += Number(isCovered);
      if (outcome !== "confirmed") continue;
      sum.promoted++;
      sum.held += Number(isCovered);
      if (families) sum.some++;
      if (isBetterFor(families, { own, others }, world)) {
        sum.right++;
        sum.automatic += Number(isAllowed && families === undefined);
      } else if (isAllowed) sum.wrong++;
    }
  }
  return sum;
}

/** In the mean of the models that it is claimed for, and for none of them worse by the margin. */
function isBetterFor(
  families: string[] | undefined,
  { own, others }: { own: Rates; others: Rates },
  world: World,
): boolean {
  const { other } = world;
  if (!other) return isBetter(own, world);
  const isFor = (family: string) => families?.includes(family) ?? true;
  const pairs: [Rates, Rates][] = [
    ...(isFor("claude") ? [[own, world.base] as [Rates, Rates]] : []),
    ...(isFor("gpt") ? [[others, other.base] as [Rates, Rates]] : []),
  ];
  const isHarmless = pairs.every(([after, before]) =>
    CATEGORIES.every((category) => after[category] >= before[category] - TRIAL_LIMITS.margin)
  );
  const gain = pairs.reduce((sum, [after, before]) => sum + truthOf(after) - truthOf(before), 0);
  return isHarmless && gain > 0;
}

function isBetter(own: Rates, { base, inForce }: World): boolean {
  const before = [base, ...(inForce ? [inForce] : [])];
  return before.every((one) =>
    truthOf(own) > truthOf(one) &&
    CATEGORIES.every((category) => own[category] >= one[category] - TRIAL_LIMITS.margin)
  );
}

const WORLDS: [name: string, world: Omit<World, "alike">][] = [
  ["73 to 97 %", { base: TRUTHS[73], candidates: [TRUTHS[97], ...three(TRUTHS[73])] }],
  ["83 to 97 %", { base: TRUTHS[83], candidates: [TRUTHS[97], ...three(TRUTHS[83])] }],
  ["60 to 76 %", { base: TRUTHS[60], candidates: [TRUTHS[76], ...three(TRUTHS[60])] }],
  ["73 to 97 % in the second round", {
    base: TRUTHS[73],
    candidates: [TRUTHS[73], ...three(TRUTHS[73])],
    second: TRUTHS[97],
  }],
  ["all equal, 83 %", { base: TRUTHS[83], candidates: [TRUTHS[83], ...three(TRUTHS[83])] }],
  ["all equal, 73 %", { base: TRUTHS[73], candidates: [TRUTHS[73], ...three(TRUTHS[73])] }],
  ["all worse, 86 to 81 %", {
    base: rates(0.88, 0.73),
    candidates: [rates(0.84, 0.62), ...three(rates(0.84, 0.62))],
  }],
  ["takes 20 % of others' prompts", {
    base: TRUTHS[73],
    candidates: [rates(0.98, 0.95, 0.77), ...three(TRUTHS[73])],
  }],
  ["takes 40 % of others' prompts", {
    base: TRUTHS[73],
    candidates: [rates(0.98, 0.95, 0.57), ...three(TRUTHS[73])],
  }],
  ["strays 5 % as before, 46 to 96 %", {
    base: rates(0.3, 0.15, 0.95),
    candidates: [rates(0.98, 0.95, 0.95), ...three(rates(0.3, 0.15, 0.95))],
  }],
  ["better than canonical, not than in force", {
    base: TRUTHS[73],
    inForce: TRUTHS[97],
    candidates: [rates(0.94, 0.85), ...three(TRUTHS[83])],
  }],
  ["two models, both 73 to 97 %", {
    ...twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[73], TRUTHS[97]),
  }],
  ["two models, 73 to 97 % and 83 to 97 %", {
    ...twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[83], TRUTHS[97]),
  }],
  ["two models, 73 to 97 % and no change", {
    ...twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[83], TRUTHS[83]),
  }],
  ["two models, 73 to 97 % and 97 to 73 %", {
    ...twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[97], TRUTHS[73]),
  }],
  ["two models, no change", {
    ...twoModels(TRUTHS[83], TRUTHS[83], TRUTHS[73], TRUTHS[73]),
  }],
];

function twoModels(base: Rates, best: Rates, otherBase: Rates, otherBest: Rates) {
  return {
    base,
    candidates: [best, ...three(base)],
    other: { base: otherBase, candidates: [otherBest, ...three(otherBase)] },
  };
}

function three(one: Rates): Rates[] {
  return [one, one, one];
}

function flagOf(name: string): string | undefined {
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
}

/**
 * `deno task bench evidence [--jobs=N] [--rounds=N] [--only=TEXT]`: what the test decides, against
 * what is true.
 */
export function benchEvidence(): Promise<void> {
  const jobs = Number(flagOf("jobs") ?? 200);
  const only = flagOf("only") ?? "";
  const first = alphaOf({ earlier: [], now: Date.now(), tools: 1, promoted: 0 });
  const percent = (part: number, all: number) => all === 0 ? "" : (100 * part / all).toFixed(1);
  const rows = WORLDS.filter(([name]) => name.includes(only)).flatMap(([name, world]) =>
    NOISES.map((alike) => {
      const sum = play({ ...world, alike }, jobs, first);
      return [
        name,
        String(alike),
        percent(sum.right, jobs),
        percent(sum.automatic, jobs),
        percent(sum.wrong, jobs),
        percent(sum.some, jobs),
        String(Math.round(sum.runs / jobs)),
        percent(sum.covered, sum.intervals),
        percent(sum.held, sum.promoted),
      ];
    })
  );
  const head = [
    "truth",
    "alike",
    "found %",
    "promoted %",
    "wrong %",
    "one family %",
    "runs",
    "interval %",
    "of found %",
  ];
  printTable(`First job with four candidates, ${jobs} jobs each`, [head, ...rows]);
  const years = NOISES.filter(() => only === "").map((alike) => {
    const all = Math.max(10, Math.round(jobs / 8));
    let wrong = 0;
    let runs = 0;
    for (let year = 0; year < all; year++) {
      const played = playYear({
        base: TRUTHS[83],
        candidates: [TRUTHS[83], ...three(TRUTHS[83])],
        alike,
      });
      wrong += Number(played.isWrong);
      runs += played.runs;
    }
    return [String(alike), percent(wrong, all), String(Math.round(runs / all / WEEKS))];
  });
  printTable("A year of weekly jobs, four equal candidates each (83 %)", [
    ["alike", "years with a wrong promotion %", "runs a job"],
    ...years,
  ]);
  benchLiveTrials(5 * jobs, percent);
  return Promise.resolve();
}

/** Share of bad sessions with the promoted description and without. */
const TRIALS = [
  { promoted: 0.1, other: 0.1 },
  { promoted: 0.3, other: 0.3 },
  { promoted: 0.2, other: 0.2, share: 20 },
  { promoted: 0.15, other: 0.15, drift: 3 },
  { promoted: 0.2, other: 0.1 },
  { promoted: 0.3, other: 0.1 },
  { promoted: 0.5, other: 0.1 },
  { promoted: 0.3, other: 0.1, share: 20 },
  { promoted: 0.1, other: 0.3 },
];

function benchLiveTrials(trials: number, percent: (part: number, all: number) => string): void {
  const rows = TRIALS.map((truth) => {
    const played = Array.from({ length: trials }, () => simulatedTrial(truth, random));
    const ended = (outcome: string) =>
      percent(played.filter((one) => one.outcome === outcome).length, trials);
    const sessions = played.reduce((sum, one) => sum + one.sessions, 0);
    return [
      `${100 * truth.promoted} % vs ${100 * truth.other} %` +
      (truth.share ? `, share ${truth.share} %` : "") +
      (truth.drift ? `, later ${truth.drift} times as many` : ""),
      ended("worse"),
      ended("better"),
      String(Math.round(sessions / trials)),
      percent(played.filter(({ covers }) => covers).length, trials),
    ];
  });
  printTable(`Live A/B of at most 400 sessions, ${trials} each`, [
    ["bad sessions, promoted vs other", "reverted %", "better %", "sessions", "interval %"],
    ...rows,
  ]);
}

const WEEKS = 52;

function playYear(world: World): { isWrong: boolean; runs: number } {
  const earlier: string[] = [];
  let runs = 0;
  for (let week = 0; week < WEEKS; week++) {
    const now = week * 7 * 86_400_000;
    const job = playJob(world, alphaOf({ earlier, now, tools: 1, promoted: 0 }));
    earlier.push(new Date(now).toISOString());
    runs += job.runs;
    if (job.confirmed !== undefined && job.isAllowed) return { isWrong: true, runs };
  }
  return { isWrong: false, runs };
}
