import assert from "node:assert/strict";
import {
  fourCandidates,
  judgeAttempt,
  playJob,
  randomOf,
  rates,
  TRUTHS,
  type World,
} from "../testing/simulated_jobs.ts";

/** Whole jobs with the shipped decisions; `deno task bench evidence` plays many more. */
function play(truth: Omit<World, "alike">, jobs: number) {
  const world = { ...truth, alike: 0.5 };
  const random = randomOf(7);
  const played = Array.from({ length: jobs }, () => playJob(world, { random }));
  const shareOf = (isSo: (job: ReturnType<typeof playJob>) => boolean) =>
    played.filter(isSo).length / jobs;
  const intervals = played.flatMap(({ attempts }) =>
    attempts.flatMap((attempt) => judgeAttempt(world, attempt).intervals)
  );
  return {
    promoted: shareOf(({ promoted }) => promoted),
    found: shareOf(({ verdict }) => verdict?.confirmed === true),
    covered: intervals.filter((one) => one).length / intervals.length,
    runs: played.reduce((sum, { runs }) => sum + runs, 0) / jobs,
  };
}

Deno.test("a job promotes descriptions that are no better in at most 5 %", () => {
  const { promoted, covered } = play(fourCandidates(TRUTHS[83]), 50);
  assert.ok(promoted <= 0.05, `${promoted} promoted`);
  assert.ok(covered >= 0.95, `${covered} of intervals hold`);
});

Deno.test("a job finds a large gain in at least 90 %, with few runs", () => {
  const { found, promoted, covered, runs } = play(fourCandidates(TRUTHS[73], TRUTHS[97]), 40);
  assert.ok(found >= 0.9 && promoted >= 0.9, `${found} found, ${promoted} promoted`);
  assert.ok(covered >= 0.95, `${covered} of intervals hold`);
  assert.ok(runs <= 250, `${runs} runs`);
});

Deno.test("a job refuses what takes other tools' prompts in at least 99 %", () => {
  const thief = fourCandidates(TRUTHS[73], rates(0.98, 0.95, 0.77));
  const { promoted } = play(thief, 100);
  assert.ok(promoted <= 0.01, `${promoted} promoted`);
});

Deno.test("a job refuses what takes one sibling's prompts, few as they are of all", () => {
  const thief = fourCandidates(TRUTHS[73], { ...TRUTHS[97], sibling: 0 });
  const { promoted } = play(thief, 60);
  assert.ok(promoted <= 0.05, `${promoted} promoted`);
});
