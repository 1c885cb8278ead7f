// deno-lint-ignore-file no-console
import { LIMITS, nextAction, type Outcome } from "./procedure.ts";
import type { PromptCategory } from "../../lib/core/optimization.ts";

type Rates = Record<PromptCategory, number>;
const r = (direct: number, indirect: number, negative = 0.97): Rates => ({
  direct,
  indirect,
  negative,
});
let seed = 12345;
function random(): number { // mulberry32
  seed = (seed + 0x6D2B79F5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
interface World {
  base: Rates;
  candidates: Rates[];
  tau: number;
}
function job(world: World, index: number) {
  const candidates = world.candidates.map((_, i) => `c${i}`);
  const rates = new Map([
    ["base", world.base],
    ...world.candidates.map((c, i) => [`c${i}`, c] as const),
  ]);
  const outcomes: Outcome[] = [];
  let prompt = 0, runs = 0;
  for (;;) {
    const action = nextAction({ candidates, baselines: ["base"], index, outcomes, limits: LIMITS });
    if (action.kind === "end") return { action, runs, better: action.confirmed };
    const shared = random();
    prompt++;
    for (const description of action.descriptions) {
      const p = rates.get(description)![action.category];
      const draw = random() < world.tau ? shared : random();
      outcomes.push({
        description,
        prompt: `p${prompt}`,
        category: action.category,
        stage: action.stage,
        correct: draw < p,
      });
      runs++;
    }
  }
}
const truth = (x: Rates) => (x.direct + x.indirect + x.negative) / 3;
function study(name: string, world: World, n: number, isGood: (i: number) => boolean) {
  let good = 0, bad = 0, runs = 0, cover = 0, attempts = 0, coverProm = 0, prom = 0;
  const why: Record<string, number> = {};
  for (let i = 0; i < n; i++) {
    const { action, runs: used, better } = job(world, 1);
    runs += used;
    if (better) {
      if (isGood(Number(better.slice(1)))) good++;
      else bad++;
    }
    const first = action.results[0]!;
    const k = (isGood(Number(first.candidate.slice(1))) ? "good " : "other ") + first.outcome;
    why[k] = (why[k] ?? 0) + 1;
    for (const a of action.results) {
      const t = truth(world.candidates[Number(a.candidate.slice(1))]!) - truth(world.base);
      const g = a.gains.base!;
      const ok = g.low <= t && t <= g.high;
      attempts++;
      if (ok) cover++;
      if (a.outcome === "confirmed") {
        prom++;
        if (ok) coverProm++;
      }
    }
  }
  console.log(Object.entries(why).map(([k, v]) => k + " " + (100 * v / n).toFixed(0)).join(", "));
  console.log(
    `${name.padEnd(34)} tau ${world.tau} right ${(100 * good / n).toFixed(1)} wrong ${
      (100 * bad / n).toFixed(1)
    } runs ${(runs / n).toFixed(0)} cover ${(100 * cover / attempts).toFixed(1)} prom ${
      (100 * coverProm / Math.max(1, prom)).toFixed(1)
    }`,
  );
}
const N = Number(Deno.args[0] ?? 500);
const b73 = r(.75, .45),
  b83 = r(.85, .67),
  b97 = r(.98, .95),
  b60 = r(.6, .25, .95),
  b76 = r(.8, .53, .95);
for (const tau of [0, .5]) {
  study(
    "73 -> 97, 3 equal",
    { base: b73, candidates: [b97, b73, b73, b73], tau },
    N,
    (i) => i === 0,
  );
  study(
    "83 -> 97, 3 equal",
    { base: b83, candidates: [b97, b83, b83, b83], tau },
    N,
    (i) => i === 0,
  );
  study(
    "60 -> 76, 3 equal",
    { base: b60, candidates: [b76, b60, b60, b60], tau },
    N,
    (i) => i === 0,
  );
  study("equal 83", { base: b83, candidates: [b83, b83, b83, b83], tau }, N, () => false);
  study("equal 73", { base: b73, candidates: [b73, b73, b73, b73], tau }, N, () => false);
  study(
    "worse 86->81",
    { base: r(.88, .73), candidates: [r(.84, .62), r(.84, .62), r(.84, .62), r(.84, .62)], tau },
    N,
    () => false,
  );
  study(
    "thief 20% (73->97 pos)",
    { base: b73, candidates: [r(.98, .95, .77), b73, b73, b73], tau },
    N,
    () => false,
  );
  study(
    "thief 13% ",
    { base: b73, candidates: [r(.98, .95, .84), b73, b73, b73], tau },
    N,
    () => false,
  );
  study(
    "strays 5% both 46->97",
    { base: r(.3, .15, .95), candidates: [r(.98, .95, .95), r(.3, .15, .95)], tau },
    N,
    (i) => i === 0,
  );
  study(
    "strays 10% both 46->97",
    { base: r(.3, .15, .90), candidates: [r(.98, .95, .90), r(.3, .15, .90)], tau },
    N,
    (i) => i === 0,
  );
}
let years = 0;
const Y = Math.max(20, N / 10);
for (let y = 0; y < Y; y++) {
  for (let k = 1; k <= 52; k++) {
    if (job({ base: b83, candidates: [b83, b83, b83, b83], tau: .3 }, k).better) {
      years++;
      break;
    }
  }
}
console.log(`false promotions in a year of weekly jobs: ${(100 * years / Y).toFixed(1)} %`);
