import assert from "node:assert/strict";
import type { TrialArm } from "../../core/live_trial.ts";
import type { TrialSession } from "../../storage/trial_sessions_repository.ts";
import { seeded, simulatedTrial, type TrialTruth } from "../testing/live_trial_bench.ts";
import { decide, OUTCOME_MS, summarize, type TrialEvent, withEvent } from "./decision.ts";

const START = Date.UTC(2026, 0, 1);
const TRIAL = {
  id: "trial_1",
  share: 50,
  startedAt: new Date(START).toISOString(),
  maxSessions: 400,
  maxDays: 30,
};

function session(unit: string, arm: TrialArm, ...events: TrialEvent[]): TrialSession {
  const counts = { calls: 0, failed: 0, refused: 0, retries: 0, marked: 0 };
  return events.reduce(withEvent, { trialId: "trial_1", unit, arm, shownAt: START, ...counts });
}

function call(at: number, kind: "ok" | "failed" | "refused" | "retry" = "ok"): TrialEvent {
  const isFailed = kind === "failed" || kind === "refused";
  return { kind: "call", at, isFailed, isRefused: kind === "refused", isRetry: kind === "retry" };
}

Deno.test("a session counts once, when it ends or half an hour after its first call", () => {
  const late = START + OUTCOME_MS;
  const sessions = [
    session("a", "promoted", call(START, "failed"), call(START + 1, "retry")),
    session("b", "other", call(START), { kind: "end", at: START + 2 }, call(START + 3, "failed")),
    session("c", "promoted", { kind: "end", at: START + 5 }),
    session("d", "other", call(START), call(late + 1, "failed"), { kind: "mark", at: late + 2 }),
    session("e", "other", call(START, "refused"), { kind: "mark", at: START + 4 }),
  ];
  const early = summarize(sessions, START + 10);
  assert.deepEqual([early.promoted.open, early.other.open, early.other.sessions], [1, 2, 1]);
  assert.equal(early.promoted.shown, 1, "it never called the tool");
  const { promoted, other, pairs } = summarize(sessions, late);
  assert.deepEqual(promoted, {
    shown: 1,
    open: 0,
    sessions: 1,
    bad: 1,
    calls: 2,
    failed: 1,
    refused: 0,
    retries: 1,
    marked: 0,
  });
  assert.deepEqual(
    [other.sessions, other.bad, other.calls, other.failed, other.refused, other.marked],
    [3, 1, 3, 1, 1, 1],
  );
  assert.equal(pairs, 1, "others of its arm have no partner yet");
});

Deno.test("decide() reverts on evidence, ends on evidence of the opposite, and at its limits", () => {
  const many = (arm: TrialArm, bad: number, good: number) =>
    Array.from(
      { length: bad + good },
      (_, nth) =>
        session(
          `${String(nth).padStart(4, "0")}${arm}`,
          arm,
          call(START, nth < bad ? "failed" : "ok"),
          {
            kind: "end",
            at: START + nth,
          },
        ),
    );
  const after = START + 1_000;
  const decided = (promoted: [number, number], other: [number, number], trial = TRIAL) =>
    decide(
      trial,
      summarize([...many("promoted", ...promoted), ...many("other", ...other)], after),
      after,
    );
  assert.equal(decided([6, 0], [0, 6]), undefined, "16 to 1 is not enough");
  assert.equal(decided([7, 0], [0, 7]), "worse");
  assert.equal(decided([0, 7], [7, 0]), "better");
  assert.equal(decided([3, 97], [3, 97]), undefined);
  assert.equal(decided([3, 97], [3, 97], { ...TRIAL, maxSessions: 200 }), "no-difference");
  assert.equal(decided([0, 1], [0, 0], { ...TRIAL, maxDays: 1_000 / 86_400_000 }), "no-difference");
});

/** Shares of simulated trials that ended so. */
function play(truth: TrialTruth, seed: number, trials = 40) {
  const random = seeded(seed);
  const played = Array.from({ length: trials }, () => simulatedTrial(truth, random));
  const share = (outcome: string) =>
    played.filter((one) => one.outcome === outcome).length / trials;
  return {
    worse: share("worse"),
    better: share("better"),
    covered: played.filter(({ covers }) => covers).length / trials,
  };
}

Deno.test("planted truths: an equal text is hardly ever reverted, a worse one is", () => {
  for (
    const equal of [
      { promoted: 0.1, other: 0.1 },
      { promoted: 0.3, other: 0.3 },
      { promoted: 0.2, other: 0.2, share: 20 },
      { promoted: 0.15, other: 0.15, drift: 3 },
      { promoted: 0.2, other: 0.2, calls: 20 },
    ]
  ) {
    const { worse, covered } = play(equal, 11);
    assert.ok(worse <= 0.05, `${JSON.stringify(equal)}: ${worse} were reverted`);
    assert.ok(covered >= 0.95, `${JSON.stringify(equal)}: the interval held in ${covered}`);
  }
  assert.ok(play({ promoted: 0.35, other: 0.1 }, 5, 30).worse >= 0.9);
  const better = play({ promoted: 0.1, other: 0.35 }, 5, 30);
  assert.equal(better.worse, 0);
  assert.ok(better.better >= 0.9);
});
