import { defined } from "../../core/defined.ts";
import {
  CANONICAL,
  descriptionHash,
  type DescriptionResult,
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
  Thresholds,
} from "../../core/optimization.ts";
import { theftsOf } from "../../optimizer/evaluation/confusion.ts";
import { countRuns, pairRuns, promptKey, promptsIn } from "../../optimizer/evaluation/metrics.ts";
import { asSiblingPrompt } from "../../optimizer/evaluation/selection.ts";
import { judge } from "../../optimizer/evaluation/verdict.ts";
import type { Evidence } from "./schemas.ts";

export type { Evidence } from "./schemas.ts";
import { baselineOf } from "../../optimizer/report.ts";
import { NOT_TESTED_BESIDE, whyNotInstead } from "../../optimizer/evaluation/comparison.ts";

interface PooledInput extends Required<Pick<ToolRecords, "evaluations" | "runs" | "versions">> {
  /** The one that would decide by itself. */
  newest: Evaluation;
}

/** Runs that can be counted together, with the prompts that they count on. */
interface Pool {
  evaluations: Evaluation[];
  runs: EvalRun[];
  /** Prompts that decide. */
  prompts: GoldenPrompt[];
  /** All prompts that were tested, including siblings'. */
  asked: GoldenPrompt[];
}

/** The runs of all evaluations of the same descriptions with the same model. */
function poolRuns(input: PooledInput, tested: string[]): Pool {
  const { newest } = input;
  const evaluations = input.evaluations.filter((one) =>
    one.id === newest.id || isSameTrial(one, newest, tested)
  );
  const ids = new Set(evaluations.map(({ id }) => id));
  const versions = promptsOf(input);
  const runs = withVersions(
    input.runs.filter(({ evaluationId }) => evaluationId !== undefined && ids.has(evaluationId)),
    versions,
    input.versions,
  );
  const own = versions.filter(({ toolName }) => toolName === newest.toolName);
  const siblings = versions.filter(({ toolName }) => toolName !== newest.toolName);
  return {
    evaluations,
    runs,
    prompts: own.filter(({ heldOut }) => newest.depth !== "thorough" || heldOut),
    // Includes prompts that decide nothing: stealing a sibling's prompt is harm too.
    asked: [...own, ...siblings.map(asSiblingPrompt)],
  };
}

/**
 * What all evaluations of the same texts by the same model come to together. Asked often enough, a
 * model says yes to anything once: a further try adds to what is known, and does not replace it.
 * Undefined where there was one try only, or where its runs are no longer kept.
 */
export function poolTries(input: PooledInput & { candidateId: string }) {
  const { candidateId, newest } = input;
  const { evaluations, runs, prompts, asked } = poolRuns(input, [CANONICAL, candidateId]);
  const runsOf = (id: string) => {
    const hash = descriptionHash(descriptionIn(newest, id) ?? "");
    return runs.filter((run) => run.candidateId === id && run.descriptionHash === hash);
  };
  const [candidate, baseline] = [runsOf(candidateId), runsOf(CANONICAL)];
  const keys = new Set(prompts.map(({ id, version }) => promptKey(id, version)));
  const evaluationIds = [
    ...new Set(
      candidate.filter((run) => keys.has(promptKey(run.promptId, run.promptVersion)))
        .flatMap(({ evaluationId }) => evaluationId ?? []),
    ),
  ];
  const tries = evaluationIds.length;
  if (tries < 2) return undefined;
  const pairs = pairRuns(candidate, baseline, prompts);
  const compared = new Set(pairs.map(({ promptId }) => promptId));
  const counted = prompts.filter(({ id }) => compared.has(id));
  const counts = {
    candidate: countRuns(candidate, counted),
    baseline: countRuns(baseline, counted),
  };
  const verdict = judge({
    depth: newest.depth,
    ...counts,
    thresholds: newest.thresholds,
    thefts: theftsOf(candidate, baseline, asked),
    pairs,
    // The more were tried at once, the likelier one of them did well by chance.
    candidates: Math.max(...evaluations.map(({ results }) => results.length - 1)),
    ...defined({ beside: newest.beside?.length }),
  });
  const words =
    `${verdict.words} This combines all ${tries} evaluations of the same descriptions and ` +
    "prompts by the same model.";
  return {
    ...counts,
    verdict: { ...verdict, words },
    tries,
    evaluationIds,
    prompts: pairs.length,
    errors: candidate.filter(({ status }) => status === "error").length,
  };
}

/** Whether the same was asked of the same model, among the same tools of other servers, so that the runs of both can be counted together. */
function isSameTrial(one: Evaluation, newest: Evaluation, tested: readonly string[]): boolean {
  return one.void === undefined && one.depth === newest.depth &&
    one.evaluator === newest.evaluator && one.model === newest.model &&
    JSON.stringify(one.beside ?? []) === JSON.stringify(newest.beside ?? []) &&
    tested.every((id) =>
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

/** All that was kept about one tool. */
export interface ToolRecords {
  /** The server's own description of today; undefined where the tool is gone. */
  canonical: string | undefined;
  prompts: readonly GoldenPrompt[];
  /** Newest first. */
  evaluations: readonly Evaluation[];
  /** Oldest first. */
  runs: readonly EvalRun[];
  /** Every version of every prompt of the server; without them each evaluation stands for itself. */
  versions?: readonly GoldenPrompt[];
  /** The promoted description, if there is one: a candidate must beat it too. */
  inForce?: string | undefined;
}

/**
 * What decides on a candidate. What the gateway measured outranks what a caller reports, and a
 * thorough evaluation a quick one: else a refusal could be talked away.
 */
export function evidenceOf(candidateId: string, records: ToolRecords): Evidence | undefined {
  const measured = records.evaluations.flatMap((evaluation) => {
    const evidence = measuredBy(evaluation, candidateId, records.canonical);
    return evidence ? [{ evaluation, evidence }] : [];
  });
  const holds = measured.filter(({ evidence }) => evidence.problem === undefined);
  const first = bestOf(candidateId, holds);
  if (!first) return reportedOf(candidateId, records) ?? measured[0]?.evidence;
  const evidence = withOtherTries(first, candidateId, records);
  return { ...evidence, ...besideInForce(candidateId, evidence, holds, records) };
}

/** The verdict on replacing the promoted description, for a candidate that beats the canonical one. */
function besideInForce(
  candidateId: string,
  { verdict }: Evidence,
  holds: readonly Measured[],
  { inForce, evaluations, runs, prompts, versions = prompts }: ToolRecords,
): Pick<Evidence, "verdict"> {
  if (inForce === undefined || candidateId === CANONICAL || !verdict?.promote) return {};
  const promotedIn = ({ results }: Evaluation) =>
    results.find(({ description }) => description === inForce);
  const tested = bestOf(candidateId, holds.filter(({ evaluation }) => promotedIn(evaluation)));
  const newest = tested?.evaluation;
  const promoted = newest && promotedIn(newest);
  const why = newest && promoted
    ? whyNotInstead({
      evaluation: newest,
      candidateId,
      inForce,
      ...poolRuns({ newest, evaluations, runs, versions }, [promoted.candidateId, candidateId]),
    })
    : NOT_TESTED_BESIDE;
  if (why === undefined) return {};
  const words = `Do not promote: ${why}. Compared with the server's own description: ` +
    verdict.words.replace(/^Promote: /, "");
  const rules = [...verdict.rules, { rule: "improvement" as const, passed: false, words: why }];
  return { verdict: { ...verdict, promote: false, words, rules } };
}

interface Measured {
  evaluation: Evaluation;
  evidence: Evidence;
}

/** A thorough one before a quick one; of the server's own description, what the report has. */
function bestOf(candidateId: string, holds: readonly Measured[]): Measured | undefined {
  const thorough = holds.find(({ evidence }) => evidence.depth === "thorough");
  if (candidateId !== CANONICAL) return thorough ?? holds[0];
  const baseline = baselineOf(holds.map(({ evaluation }) => evaluation), undefined);
  return holds.find(({ evaluation }) => evaluation === baseline?.evaluation) ?? holds[0];
}

/** With what the same has come to before. */
function withOtherTries(
  { evaluation, evidence }: Measured,
  candidateId: string,
  { evaluations, runs, versions }: ToolRecords,
): Evidence {
  if (versions === undefined || candidateId === CANONICAL) return evidence;
  const pooled = poolTries({ candidateId, newest: evaluation, evaluations, runs, versions });
  if (!pooled) return evidence;
  const { candidate: metrics, ...rest } = pooled;
  return { ...evidence, ...rest, metrics };
}

function measuredBy(
  evaluation: Evaluation,
  candidateId: string,
  canonical: string | undefined,
): Evidence | undefined {
  const found = evaluation.results.find((result) => result.candidateId === candidateId);
  const own = evaluation.results.find((result) => result.candidateId === CANONICAL);
  if (!found || !own) return undefined;
  const hasChanged = canonical !== undefined && own.description !== canonical;
  const metrics = found.paired?.candidate ?? found.metrics;
  return {
    source: "measured",
    depth: evaluation.depth,
    metrics,
    baseline: found.paired?.baseline ?? own.metrics,
    prompts: promptsIn(metrics.overall),
    errors: found.errors,
    evaluationId: evaluation.id,
    time: evaluation.endedAt,
    ...defined({
      beside: evaluation.beside?.length,
      verdict: found.verdict,
      problem: problemOf(evaluation, found, hasChanged),
    }),
  };
}

/** Why an evaluation says nothing about a candidate, where that is so. */
function problemOf(
  evaluation: Evaluation,
  { verdict }: DescriptionResult,
  hasChanged: boolean,
): string | undefined {
  if (evaluation.void !== undefined) return `The evaluation is void: ${evaluation.void}`;
  if (hasChanged) {
    return "The server's own description has changed since this evaluation: evaluate again";
  }
  const lacksEvidence = verdict?.rules.some(({ rule, passed }) => rule === "evidence" && !passed);
  // It was cut short, or asked too little: no refusal, so it stands in the way of nothing. One that
  // stopped since more could not help lacks evidence, too, and is a refusal.
  return lacksEvidence && verdict?.moreRuns !== undefined ? verdict.words : undefined;
}

function reportedOf(candidateId: string, records: ToolRecords): Evidence | undefined {
  const { prompts, canonical } = records;
  const reported = newestOfEach(records.runs.filter(isReported));
  const hash = canonical === undefined ? undefined : descriptionHash(canonical);
  const baseline = reported.filter((run) =>
    run.candidateId === CANONICAL && (hash === undefined || run.descriptionHash === hash)
  );
  const candidate = candidateId === CANONICAL
    ? baseline
    : reported.filter((run) => run.candidateId === candidateId);
  if (candidate.length === 0) return undefined;
  const [metrics, base] = [countRuns(candidate, prompts), countRuns(baseline, prompts)];
  const evidence = {
    source: "reported" as const,
    depth: "quick" as const,
    metrics,
    baseline: base,
    prompts: prompts.filter((prompt) => candidate.some((run) => isRunOf(run, prompt))).length,
    errors: candidate.filter(({ status }) => status === "error").length,
    time: candidate.at(-1)!.timestamp,
  };
  const missing = prompts.length === 0
    ? ["the tool has no saved prompts"]
    : [...new Map([[candidateId, candidate], [CANONICAL, baseline]])].flatMap(([id, runs]) => {
      const without = prompts.filter((prompt) => !runs.some((run) => isRunOf(run, prompt)));
      if (without.length === 0) return [];
      return [`${id} has no run for ${without.map((prompt) => prompt.id).join(", ")}`];
    });
  if (missing.length > 0) {
    const problem = `The reported results are incomplete, so they do not count: ${
      missing.join("; ")
    }`;
    return { ...evidence, problem };
  }
  if (candidateId === CANONICAL) return evidence;
  const verdict = judge({
    depth: "quick",
    candidate: metrics,
    baseline: base,
    thresholds: Thresholds.parse({}),
    thefts: theftsOf(candidate, baseline, prompts),
    pairs: pairRuns(candidate, baseline, prompts),
    isReported: true,
  });
  return { ...evidence, verdict };
}

/**
 * A prompt counts once for each description, by its newest report that went well: else it could be
 * reported until the rest no longer mattered. What went wrong stays, to be told.
 */
export function newestOfEach(runs: readonly EvalRun[]): EvalRun[] {
  const newest = new Map<string, EvalRun>();
  for (const run of runs) {
    const { status, candidateId, promptId, promptVersion, descriptionHash } = run;
    if (status !== "ok") continue;
    newest.set(JSON.stringify([candidateId, promptId, promptVersion, descriptionHash]), run);
  }
  const kept = new Set(newest.values());
  return runs.filter((run) => run.status !== "ok" || kept.has(run));
}

/** Whether a caller says so. */
export function isReported({ evaluator }: EvalRun): boolean {
  return evaluator === "caller";
}

/** Only one that went well says anything, and only of the version it was put to. */
function isRunOf(run: EvalRun, prompt: GoldenPrompt): boolean {
  return run.status === "ok" && run.promptId === prompt.id && run.promptVersion === prompt.version;
}

/** Whether a candidate may be promoted on this, or in words why not. */
export function refusalOf(evidence: Evidence | undefined): string | undefined {
  if (!evidence) return "No evaluation runs found for candidate - run evaluations first";
  if (evidence.problem !== undefined) return evidence.problem;
  if (!evidence.verdict) return "The evaluation has no verdict on this candidate";
  return evidence.verdict.promote ? undefined : evidence.verdict.words;
}
