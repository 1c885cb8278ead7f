import * as z from "zod";

const Time = z.iso.datetime();

export const TRIAL_DEFAULTS = { share: 50, maxSessions: 400, maxDays: 30 };

/** How a live A/B is run: who gets the promoted description, and when it ends at the latest. */
export const LiveTrialPlan = z.strictObject({
  /** Percent of sessions that get the promoted description. */
  share: z.int().min(1).max(99).default(TRIAL_DEFAULTS.share),
  /** Sessions that called the tool. */
  maxSessions: z.int().min(20).max(10_000).default(TRIAL_DEFAULTS.maxSessions),
  maxDays: z.number().positive().max(365).default(TRIAL_DEFAULTS.maxDays),
});
export type LiveTrialPlan = z.infer<typeof LiveTrialPlan>;

/** A live A/B that is under way. Which session gets which text follows from its id. */
export const LiveTrial = LiveTrialPlan.required().extend({ id: z.string(), startedAt: Time });
export type LiveTrial = z.infer<typeof LiveTrial>;

/** Which text a session gets: the promoted one, or the one it would get without the promotion. */
export const TrialArm = z.enum(["promoted", "other"]);
export type TrialArm = z.infer<typeof TrialArm>;

/** What became of one arm's sessions. */
export const ArmCounts = z.strictObject({
  /** Were shown the tool and have not called it. */
  shown: z.int(),
  /** Called it a short time ago, so that more may follow. */
  open: z.int(),
  /** Called it, and are counted. */
  sessions: z.int(),
  /** Of these: with a failed call, refused arguments, a retry or a wrong-tool mark. */
  bad: z.int(),
  calls: z.int(),
  failed: z.int(),
  refused: z.int(),
  retries: z.int(),
  marked: z.int(),
});
export type ArmCounts = z.infer<typeof ArmCounts>;

export const TrialOutcome = z.enum(["worse", "better", "no-difference", "stopped"]);
export type TrialOutcome = z.infer<typeof TrialOutcome>;

export const TrialSummary = z.strictObject({
  promoted: ArmCounts,
  other: ArmCounts,
  /** Pairs of sessions, one of each arm, that have been compared. */
  pairs: z.int(),
  /** The odds that the promoted description is worse, and that it is better: 20 to 1 decides. */
  worse: z.number(),
  better: z.number(),
  /** Share of bad sessions with the promoted description minus that with the other, at 95 %. */
  difference: z.strictObject({ low: z.number(), high: z.number() }),
});
export type TrialSummary = z.infer<typeof TrialSummary>;

/** How a live A/B ended. */
export const LiveTrialResult = LiveTrial.extend({
  endedAt: Time,
  outcome: TrialOutcome,
  summary: TrialSummary,
});
export type LiveTrialResult = z.infer<typeof LiveTrialResult>;

/** Sessions with a bad outcome of all that count: "3 of 34". */
function armText({ bad, sessions }: ArmCounts): string {
  return `${bad} of ${sessions}`;
}

/** "served to 50 % of sessions, 34 and 31 sessions so far, bad outcomes 3 of 34 vs 9 of 31" */
export function trialText(
  { share }: Pick<LiveTrial, "share">,
  { promoted, other, difference, pairs }: TrialSummary,
): string {
  const points = (share: number) => Math.round(100 * share);
  return `served to ${share} % of sessions, ${promoted.sessions} and ${other.sessions} sessions ` +
    `so far, bad outcomes ${armText(promoted)} vs ${armText(other)}` +
    (pairs === 0 ? "" : `, difference ${points(difference.low)} to ${points(difference.high)} ` +
      "points (95 % interval)");
}

const OUTCOMES: Record<TrialOutcome, string> = {
  worse: "the promoted description did worse",
  better: "the promoted description did better",
  "no-difference": "no difference was found",
  stopped: "stopped by a person",
};

/** "the promoted description did worse: bad outcomes in 9 of 31 sessions, and in 3 of 34 without it" */
export function trialResultText(
  { outcome, summary }: Pick<LiveTrialResult, "outcome" | "summary">,
): string {
  const { promoted, other, worse, better } = summary;
  const odds = { worse, better, "no-difference": undefined, stopped: undefined }[outcome];
  return `${OUTCOMES[outcome]}: bad outcomes in ${armText(promoted)} sessions, and in ` +
    `${armText(other)} without it` +
    (odds === undefined ? "" : ` (evidence ${oddsText(odds)} to 1)`);
}

/** "41", or "more than 9,999". */
function oddsText(odds: number): string {
  return odds > 9_999 ? "more than 9,999" : String(Math.floor(odds));
}
