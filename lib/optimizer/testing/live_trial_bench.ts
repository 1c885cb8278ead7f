import type { LiveTrial, TrialArm, TrialOutcome } from "../../core/live_trial.ts";
import type { TrialSession } from "../../storage/trial_sessions_repository.ts";
import { compare, decide, summarize, type TrialEvent, withEvent } from "../live/decision.ts";

/** What is planted: the share of sessions that go badly in each arm. */
export interface TrialTruth {
  promoted: number;
  other: number;
  /** Percent of sessions with the promoted description. */
  share?: number;
  /** What the shares are multiplied with in the second half: a server that gets worse for all. */
  drift?: number;
  /** Calls per session; bad sessions have as many. */
  calls?: number;
}

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 1);

/** How often the interval is looked at; the decision, after every session. */
const INTERVAL_EVERY = 100;

/** Plays a live A/B session by session with the shipped decision. */
export function simulatedTrial(
  { promoted, other, share = 50, drift = 1, calls = 2 }: TrialTruth,
  random: () => number,
): { outcome: TrialOutcome; sessions: number; covers: boolean } {
  const trial: LiveTrial = {
    id: "trial",
    share,
    startedAt: new Date(START).toISOString(),
    maxSessions: 400,
    maxDays: 30,
  };
  const sessions: TrialSession[] = [];
  const truth = promoted - other;
  let covers = true;
  for (let nth = 0;; nth++) {
    const at = START + nth * MINUTE_MS;
    const arm: TrialArm = random() < share / 100 ? "promoted" : "other";
    const rate = (arm === "promoted" ? promoted : other) *
      (nth > trial.maxSessions / 2 ? drift : 1);
    // Failures of one session come together.
    const isBad = random() < rate;
    const events: TrialEvent[] = Array.from({ length: calls }, (_, call) => ({
      kind: "call",
      at: at + call,
      isFailed: isBad,
      isRefused: false,
      isRetry: false,
    }));
    events.push({ kind: "end", at: at + calls });
    const fresh = { trialId: "trial", unit: String(nth).padStart(6, "0"), arm, shownAt: at };
    const none = { calls: 0, failed: 0, refused: 0, retries: 0, marked: 0 };
    sessions.push(events.reduce(withEvent, { ...fresh, ...none }));
    const now = at + MINUTE_MS;
    const outcome = decide(trial, compare(sessions, now), now);
    if (outcome || nth % INTERVAL_EVERY === 0) {
      const { low, high } = summarize(sessions, now).difference;
      if (drift === 1 && (truth < low || truth > high)) covers = false;
    }
    if (outcome) return { outcome, sessions: sessions.length, covers };
  }
}

/** The same numbers for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
