import {
  CANONICAL,
  descriptionHash,
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
  type Metrics,
  type Verdict,
} from "../../core/optimization.ts";
import { theftsOf } from "../../optimizer/confusion.ts";
import { countRuns, promptKey } from "../../optimizer/metrics.ts";
import { pairRuns } from "../../optimizer/paired_exact.ts";
import { asSiblingPrompt } from "../../optimizer/sibling_prompts.ts";
import { judge } from "../../optimizer/verdict.ts";

export interface PooledInput {
  candidateId: string;
  /** The one that would decide by itself. */
  newest: Evaluation;
  /** All of the tool's. */
  evaluations: readonly Evaluation[];
  runs: readonly EvalRun[];
  /** Every version of every prompt of the server: of this tool and of its siblings. */
  versions: readonly GoldenPrompt[];
}

export interface Pooled {
  candidate: Metrics;
  baseline: Metrics;
  verdict: Verdict;
  /** Evaluations that it rests on. */
  tries: number;
  evaluationIds: string[];
  prompts: number;
  /** Runs of the candidate in all of them that say nothing. */
  errors: number;
}

/**
 * What all evaluations of the same texts by the same model come to together. Asked often enough, a
 * model says yes to anything once: a further try adds to what is known, and does not replace it.
 * Undefined where there was one try only, or where its runs are no longer kept.
 */
export function poolTries(input: PooledInput): Pooled | undefined {
  const { candidateId, newest } = input;
  const same = input.evaluations.filter((one) => one.id === newest.id || isSameTrial(one, input));
  if (same.length < 2) return undefined;
  const ids = new Set(same.map(({ id }) => id));
  const asked = promptsOf(input);
  const runs = withVersions(
    input.runs.filter(({ evaluationId }) => evaluationId !== undefined && ids.has(evaluationId)),
    asked,
    input.versions,
  );
  const runsOf = (id: string) => {
    const hash = descriptionHash(descriptionIn(newest, id) ?? "");
    return runs.filter((run) => run.candidateId === id && run.descriptionHash === hash);
  };
  const [candidate, baseline] = [runsOf(candidateId), runsOf(CANONICAL)];
  const deciding = asked.filter(({ toolName, heldOut }) =>
    toolName === newest.toolName && (newest.depth !== "thorough" || heldOut)
  );
  const keys = new Set(deciding.map(({ id, version }) => promptKey(id, version)));
  const evaluationIds = [
    ...new Set(
      candidate.filter((run) => keys.has(promptKey(run.promptId, run.promptVersion)))
        .flatMap(({ evaluationId }) => evaluationId ?? []),
    ),
  ];
  const tries = evaluationIds.length;
  if (tries < 2) return undefined;
  const pairs = pairRuns(candidate, baseline, deciding);
  const compared = new Set(pairs.map(({ promptId }) => promptId));
  const counted = deciding.filter(({ id }) => compared.has(id));
  const counts = {
    candidate: countRuns(candidate, counted),
    baseline: countRuns(baseline, counted),
  };
  // Also those that decide nothing: what is taken from others is harm all the same.
  const own = asked.filter(({ toolName }) => toolName === newest.toolName);
  const siblings = asked.filter(({ toolName }) => toolName !== newest.toolName).map(
    asSiblingPrompt,
  );
  const verdict = judge({
    depth: newest.depth,
    ...counts,
    thresholds: newest.thresholds,
    thefts: theftsOf(candidate, baseline, [...own, ...siblings]),
    pairs,
    // The more were tried at once, the likelier one of them did well by chance.
    candidates: Math.max(...same.map(({ results }) => results.length - 1)),
    ...(newest.beside === undefined ? {} : { beside: newest.beside.length }),
  });
  const words = `${verdict.words} This counts all ${tries} evaluations of the same texts and ` +
    "prompts by the same model together.";
  const errors = candidate.filter(({ status }) => status === "error").length;
  return {
    ...counts,
    verdict: { ...verdict, words },
    tries,
    evaluationIds,
    prompts: pairs.length,
    errors,
  };
}

/** Whether the same was asked of the same model, among the same tools of other servers, so that the runs of both can be counted together. */
function isSameTrial(one: Evaluation, { candidateId, newest }: PooledInput): boolean {
  return one.void === undefined && one.depth === newest.depth &&
    one.evaluator === newest.evaluator && one.model === newest.model &&
    JSON.stringify(one.beside ?? []) === JSON.stringify(newest.beside ?? []) &&
    [CANONICAL, candidateId].every((id) =>
      descriptionIn(one, id) !== undefined && descriptionIn(one, id) === descriptionIn(newest, id)
    );
}

/** One version of each prompt: that which the newest evaluation asked, else the current one. */
function promptsOf({ newest, runs, versions }: PooledInput): GoldenPrompt[] {
  const latest = new Map<string, number>();
  const askedLast = new Set<string>();
  for (const { id, version } of versions) {
    latest.set(id, Math.max(version, latest.get(id) ?? 0));
  }
  for (const { evaluationId, promptId, promptVersion } of runs) {
    if (evaluationId !== newest.id) continue;
    latest.set(promptId, promptVersion);
    askedLast.add(promptId);
  }
  return versions.filter(({ id, version, retired }) =>
    latest.get(id) === version && (askedLast.has(id) || !retired)
  );
}

/** A version that asks the same as the one that counts, such as one that is held out since, counts as it. */
function withVersions(
  runs: readonly EvalRun[],
  asked: readonly GoldenPrompt[],
  versions: readonly GoldenPrompt[],
): EvalRun[] {
  const counting = new Map(asked.map((prompt) => [prompt.id, prompt]));
  const byKey = new Map(versions.map((prompt) => [promptKey(prompt.id, prompt.version), prompt]));
  return runs.map((run) => {
    const put = byKey.get(promptKey(run.promptId, run.promptVersion));
    const same = counting.get(run.promptId);
    return put && same && contentOf(put) === contentOf(same)
      ? { ...run, promptVersion: same.version }
      : run;
  });
}

function contentOf({ category, prompt, expectedBehavior }: GoldenPrompt): string {
  const { shouldCallTool, expectedTool } = expectedBehavior;
  return JSON.stringify([category, prompt, shouldCallTool, expectedTool]);
}

function descriptionIn({ results }: Evaluation, candidateId: string): string | undefined {
  return results.find((result) => result.candidateId === candidateId)?.description;
}
