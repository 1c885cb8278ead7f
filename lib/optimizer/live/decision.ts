import type {
  ArmCounts,
  LiveTrial,
  TrialArm,
  TrialOutcome,
  TrialSummary,
} from "../../core/live_trial.ts";
import type { TrialSession } from "../../storage/trial_sessions_repository.ts";
import { differenceInterval, logEvidence, type PairedCounts } from "../evaluation/evidence.ts";

/** A session counts with what happens so long after its first call of the tool, or until it ends. */
export const OUTCOME_MS = 30 * 60_000;
/** The probability that a description which is no worse is ever reverted. */
const ALPHA = 0.05;
const DAY_MS = 24 * 60 * 60_000;

/** What happened in a session, in the order it happened. */
export type TrialEvent =
  | { kind: "shown"; at: number }
  | { kind: "mark"; at: number }
  | { kind: "end"; at: number }
  | { kind: "call"; at: number; isFailed: boolean; isRefused: boolean; isRetry: boolean };

/** When nothing more can change what a session counts as; undefined if it has not called the tool. */
function settledAt({ firstCallAt, endedAt }: TrialSession): number | undefined {
  if (firstCallAt === undefined) return undefined;
  const latest = firstCallAt + OUTCOME_MS;
  return endedAt === undefined || endedAt < firstCallAt ? latest : Math.min(endedAt, latest);
}

/** The session after an event; the same if it changes nothing. */
export function withEvent(session: TrialSession, event: TrialEvent): TrialSession {
  if (event.kind === "shown" || event.at > (settledAt(session) ?? Infinity)) return session;
  if (event.kind === "end") return { ...session, endedAt: event.at };
  if (event.kind === "mark") return { ...session, marked: session.marked + 1 };
  return {
    ...session,
    firstCallAt: session.firstCallAt ?? event.at,
    calls: session.calls + 1,
    failed: session.failed + Number(event.isFailed),
    refused: session.refused + Number(event.isRefused),
    retries: session.retries + Number(event.isRetry),
  };
}

function isBad({ failed, refused, retries, marked }: TrialSession): boolean {
  return failed + refused + retries + marked > 0;
}

/** The sessions so far, with the interval of the difference. */
export function summarize(sessions: readonly TrialSession[], now: number): TrialSummary {
  const { counts, ...tally } = compare(sessions, now);
  return { ...tally, difference: differenceInterval(counts) };
}

/**
 * What became of the sessions so far. Calls of one session are not independent, so a session counts
 * once, as good or bad. Each is compared with the session of the other arm that settled last before it
 * and has no partner yet: both had the same server at about the same time.
 */
export function compare(sessions: readonly TrialSession[], now: number) {
  const arms: Record<TrialArm, ArmCounts> = { promoted: noCounts(), other: noCounts() };
  const settled: { at: number; session: TrialSession }[] = [];
  for (const session of sessions) {
    const at = settledAt(session);
    if (at === undefined) arms[session.arm].shown++;
    else if (at > now) arms[session.arm].open++;
    else settled.push({ at, session });
  }
  settled.sort((one, other) =>
    one.at - other.at || (one.session.unit < other.session.unit ? -1 : 1)
  );
  const waiting: Record<TrialArm, boolean[]> = { promoted: [], other: [] };
  /** A win is evidence that the promoted description is worse. */
  const counts: PairedCounts = { wins: 0, losses: 0, ties: 0 };
  for (const { session } of settled) {
    const bad = isBad(session);
    count(arms[session.arm], session, bad);
    const partner = waiting[session.arm === "promoted" ? "other" : "promoted"].pop();
    if (partner === undefined) waiting[session.arm].push(bad);
    else if (partner === bad) counts.ties++;
    else counts[bad === (session.arm === "promoted") ? "wins" : "losses"]++;
  }
  const { wins, losses, ties } = counts;
  return {
    ...arms,
    pairs: wins + losses + ties,
    worse: Math.exp(logEvidence(counts)),
    better: Math.exp(logEvidence({ wins: losses, losses: wins, ties })),
    counts,
  };
}

/**
 * Whether the trial ends, and with what. The evidence is an e-value: if the promoted description is no
 * worse, it ever reaches 20 with a probability of at most 5 %, however often one looks.
 */
export function decide(
  { startedAt, maxSessions, maxDays }: LiveTrial,
  { worse, better, promoted, other }: Omit<TrialSummary, "difference">,
  now: number,
): TrialOutcome | undefined {
  if (worse >= 1 / ALPHA) return "worse";
  if (better >= 1 / ALPHA) return "better";
  const isOver = promoted.sessions + other.sessions >= maxSessions ||
    now >= Date.parse(startedAt) + maxDays * DAY_MS;
  return isOver ? "no-difference" : undefined;
}

function noCounts(): ArmCounts {
  return {
    shown: 0,
    open: 0,
    sessions: 0,
    bad: 0,
    calls: 0,
    failed: 0,
    refused: 0,
    retries: 0,
    marked: 0,
  };
}

function count(counts: ArmCounts, session: TrialSession, bad: boolean): void {
  counts.sessions++;
  counts.bad += Number(bad);
  for (const kind of ["calls", "failed", "refused", "retries", "marked"] as const) {
    counts[kind] += session[kind];
  }
}
