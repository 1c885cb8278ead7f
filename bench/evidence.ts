import { alphaOf, leastGain } from "../lib/optimizer/evaluation/evidence.ts";
import { SHARES } from "../lib/optimizer/evaluation/procedure.ts";
import { simulatedTrial } from "../lib/optimizer/testing/live_trial_bench.ts";
import {
  fourCandidates,
  judgeAttempt,
  type PlayedJob,
  playJob,
  randomOf,
  type Rates,
  rates,
  TRUTHS,
  type World,
} from "../lib/optimizer/testing/simulated_jobs.ts";
import { printTable } from "./report.ts";

const NOISES = [0, 0.5, 1];
const CATEGORIES_OF_GAIN = ["direct", "indirect"] as const;
const random = randomOf(20_261_118);

const WORLDS: [name: string, world: Omit<World, "alike">][] = [
  ["73 to 97 %", fourCandidates(TRUTHS[73], TRUTHS[97])],
  ["83 to 97 %", fourCandidates(TRUTHS[83], TRUTHS[97])],
  ["60 to 76 %", fourCandidates(TRUTHS[60], TRUTHS[76])],
  ["73 to 97 % in the second round", { ...fourCandidates(TRUTHS[73]), second: TRUTHS[97] }],
  [
    "strays 5 % as before, 46 to 96 %",
    fourCandidates(rates(0.3, 0.15, 0.95), rates(0.98, 0.95, 0.95)),
  ],
  ["all equal, 83 %", fourCandidates(TRUTHS[83])],
  ["all equal, 73 %", fourCandidates(TRUTHS[73])],
  ["all worse, 86 to 81 %", {
    base: rates(0.88, 0.73),
    candidates: fourCandidates(rates(0.84, 0.62)).candidates,
  }],
  ["takes 20 % of others' prompts", fourCandidates(TRUTHS[73], rates(0.98, 0.95, 0.77))],
  ["takes 40 % of others' prompts", fourCandidates(TRUTHS[73], rates(0.98, 0.95, 0.57))],
  ["takes one sibling's prompts", fourCandidates(TRUTHS[73], { ...TRUTHS[97], sibling: 0 })],
  ["takes 80 % of one sibling's", fourCandidates(TRUTHS[73], { ...TRUTHS[97], sibling: 0.2 })],
  ["better than canonical, not than in force", {
    base: TRUTHS[73],
    inForce: TRUTHS[97],
    candidates: [rates(0.94, 0.85), TRUTHS[83], TRUTHS[83], TRUTHS[83]],
  }],
];

const OF_TWO_MODELS: [name: string, world: Omit<World, "alike">][] = [
  ["73 to 97 %; 73 to 97 %", twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[73], TRUTHS[97])],
  ["73 to 97 %; 83 to 97 %", twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[83], TRUTHS[97])],
  ["73 to 97 %; no change", twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[83], TRUTHS[83])],
  ["73 to 97 %; 97 to 73 %", twoModels(TRUTHS[73], TRUTHS[97], TRUTHS[97], TRUTHS[73])],
  ["no change; no change", twoModels(TRUTHS[83], TRUTHS[83], TRUTHS[73], TRUTHS[73])],
];

function twoModels(base: Rates, best: Rates, otherBase: Rates, otherBest: Rates) {
  return {
    ...fourCandidates(base, best),
    other: fourCandidates(otherBase, otherBest),
  };
}

function flagOf(name: string): string | undefined {
  const at = Deno.args.indexOf(`--${name}`);
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ??
    (at === -1 ? undefined : Deno.args[at + 1]);
}

const ROUNDS = flagOf("rounds") === undefined ? undefined : Number(flagOf("rounds"));

/** What is counted of jobs with one truth. */
class Counts {
  jobs = 0;
  runs = 0;
  /** Confirmed and true, and of these what is promoted without a person. */
  right = 0;
  automatic = 0;
  /** Promoted without a person, and not true. */
  wrong = 0;
  /** Confirmed for one family only. */
  some = 0;
  tests = 0;
  covered = 0;
  promoted = 0;
  held = 0;

  add(world: World, { attempts, runs, promoted, verdict }: PlayedJob): boolean {
    this.jobs++;
    this.runs += runs;
    let isWrong = false;
    for (const attempt of attempts) {
      const { isRight, intervals } = judgeAttempt(world, attempt);
      const holds = intervals.every((one) => one);
      this.tests++;
      this.covered += Number(holds);
      if (attempt.outcome !== "confirmed") continue;
      if (attempt.families) this.some++;
      if (isRight && verdict?.confirmed) this.right++;
      if (!promoted) continue;
      this.promoted++;
      this.held += Number(holds);
      if (isRight) this.automatic++;
      else isWrong = true;
    }
    this.wrong += Number(isWrong);
    return isWrong;
  }

  merge(other: Counts): void {
    for (const key of Object.keys(other) as (keyof Counts)[]) {
      if (key !== "add" && key !== "merge") this[key] += other[key];
    }
  }
}

function percent(part: number, all: number): string {
  return all === 0 ? "" : (100 * part / all).toFixed(1);
}

function playWorlds(
  title: string,
  worlds: typeof WORLDS,
  jobs: number,
): void {
  const only = flagOf("only") ?? "";
  const all = new Counts();
  const rows = worlds.filter(([name]) => name.includes(only)).flatMap(([name, world]) =>
    NOISES.map((alike) => {
      const counts = new Counts();
      const played = { ...world, alike };
      for (let job = 0; job < jobs; job++) {
        counts.add(played, playJob(played, { random, rounds: ROUNDS }));
      }
      all.merge(counts);
      return [
        name,
        String(alike),
        percent(counts.right, jobs),
        percent(counts.automatic, jobs),
        percent(counts.wrong, jobs),
        percent(counts.some, jobs),
        String(Math.round(counts.runs / jobs)),
        percent(counts.covered, counts.tests),
        percent(counts.held, counts.promoted),
      ];
    })
  );
  const total = [
    "all",
    "",
    ...["", "", "", "", ""],
    `${percent(all.covered, all.tests)} of ${all.tests}`,
    `${percent(all.held, all.promoted)} of ${all.promoted}`,
  ];
  const head = [
    "truth",
    "alike",
    "found %",
    "promoted %",
    "wrong %",
    "one family %",
    "runs",
    "interval %",
    "of promoted %",
  ];
  printTable(`${title}, ${jobs} jobs each`, [head, ...rows, total]);
}

/** Jobs for twenty tools, of which some have a better candidate. */
const TOOLS = 20;
const BETTER = [0, 2, 10];

function playBatches(batches: number): void {
  const rows = BETTER.flatMap((better) =>
    NOISES.map((alike) => {
      let [rate, found, promotions] = [0, 0, 0];
      for (let batch = 0; batch < batches; batch++) {
        const counts = new Counts();
        for (let tool = 0; tool < TOOLS; tool++) {
          // Those with a better candidate are spread over the batch.
          const isBetter = better > 0 && tool % (TOOLS / better) === 0;
          const truth = isBetter
            ? fourCandidates(TRUTHS[73], TRUTHS[97])
            : fourCandidates(TRUTHS[83]);
          const alpha = alphaOf({ earlier: [], now: 0, tools: TOOLS, promoted: counts.promoted });
          const world = { ...truth, alike };
          counts.add(world, playJob(world, { random, alpha, rounds: ROUNDS }));
        }
        rate += counts.wrong / Math.max(1, counts.promoted);
        found += counts.right;
        promotions += counts.promoted;
      }
      return [
        `${better} of ${TOOLS}`,
        String(alike),
        percent(rate, batches),
        percent(found, batches * better),
        (promotions / batches).toFixed(1),
      ];
    })
  );
  printTable(`Jobs for ${TOOLS} tools, ${batches} each: 73 to 97 %, the others equal (83 %)`, [
    ["better", "alike", "of promotions wrong %", "found %", "promotions a job"],
    ...rows,
  ]);
}

const WEEKS = 52;

function playYears(years: number): void {
  const rows = NOISES.map((alike) => {
    let [wrong, runs, jobs] = [0, 0, 0];
    for (let year = 0; year < years; year++) {
      const earlier: string[] = [];
      const world = { ...fourCandidates(TRUTHS[83]), alike };
      for (let week = 0; week < WEEKS; week++) {
        const now = week * 7 * 86_400_000;
        const alpha = alphaOf({ earlier, now, tools: 1, promoted: 0 });
        const job = playJob(world, { random, alpha, rounds: ROUNDS });
        earlier.push(new Date(now).toISOString());
        runs += job.runs;
        jobs++;
        if (!job.promoted) continue;
        wrong++;
        break;
      }
    }
    return [
      String(alike),
      percent(wrong, years),
      `${wrong} of ${years}`,
      String(Math.round(runs / jobs)),
    ];
  });
  printTable("Years of weekly jobs, four equal candidates each (83 %)", [
    ["alike", "years with a wrong promotion %", "years", "runs a job"],
    ...rows,
  ]);
}

/** Whether a job finds in four of five cases what its estimate says that it can find. */
function playPower(jobs: number): void {
  const bases: [string, Rates][] = [
    ["60 %", TRUTHS[60]],
    ["73 %", TRUTHS[73]],
    ["83 %", TRUTHS[83]],
    ["90 %", rates(0.92, 0.81)],
  ];
  const alpha = alphaOf({ earlier: [], now: 0, tools: 1, promoted: 0 });
  const rows = bases.flatMap(([name, base]) =>
    [240, 90].flatMap((prompts) => {
      const points = leastGain(prompts, alpha * SHARES[0]!, base);
      if (points === undefined) return [[name, String(prompts), "none", ""]];
      const wrong = CATEGORIES_OF_GAIN.reduce((sum, category) => sum + 1 - base[category], 0);
      const share = Math.min(1, 3 * points / 100 / wrong);
      const better = { ...base };
      for (const category of CATEGORIES_OF_GAIN) better[category] += (1 - base[category]) * share;
      // Answers that are as independent as they can be: then chance disturbs most.
      const world = { ...fourCandidates(base, better), alike: 0 };
      let found = 0;
      for (let job = 0; job < jobs; job++) {
        const promptsPerCategory = prompts / 3;
        const { verdict } = playJob(world, { random, rounds: ROUNDS, promptsPerCategory });
        found += Number(verdict?.confirmed === true);
      }
      const power = 100 * found / jobs;
      return [[
        name,
        String(prompts),
        String(points),
        power.toFixed(1),
        power >= 80 ? "yes" : "NO",
      ]];
    })
  );
  printTable(`The least gain that an estimate shows, ${jobs} jobs each, four candidates`, [
    ["before", "prompts", "points shown", "found %", "at least 80 %"],
    ...rows,
  ]);
}

const PARTS: Record<string, (jobs: number) => void> = {
  first: (jobs) => playWorlds("First job with four candidates", WORLDS, jobs),
  models: (jobs) => playWorlds("Two models of different families", OF_TWO_MODELS, jobs),
  power: playPower,
  batch: (jobs) => playBatches(Math.ceil(jobs / 4)),
  years: (jobs) => playYears(Math.ceil(jobs / 2)),
  live: (jobs) => benchLiveTrials(5 * jobs),
};

/**
 * `deno task bench evidence [--jobs N] [--part NAME,...] [--only TEXT] [--rounds N]`: what the shipped
 * test decides, against what is true. Parts: first, models, power, batch, years and live.
 */
export function benchEvidence(): Promise<void> {
  const jobs = Number(flagOf("jobs") ?? 40);
  for (const name of flagOf("part")?.split(",") ?? Object.keys(PARTS)) {
    const part = PARTS[name];
    if (!part) throw new Error(`There is no part "${name}": ${Object.keys(PARTS).join(", ")}`);
    part(jobs);
  }
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

function benchLiveTrials(trials: number): void {
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
