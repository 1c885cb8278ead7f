import { defined } from "../../core/defined.ts";
import {
  CANONICAL,
  descriptionHash,
  type DescriptionResult,
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
  textHash,
  Thresholds,
  type ToolText,
  type Verdict,
} from "../../core/optimization.ts";
import { type OwnParameterTexts, parameterChanges } from "../../core/tool_text.ts";
import type { ModelFamily } from "../../core/model_family.ts";
import { theftsOf } from "../../optimizer/evaluation/confusion.ts";
import { countRuns, pairRuns, promptsIn } from "../../optimizer/evaluation/metrics.ts";
import { judge, promotableFamilies } from "../../optimizer/evaluation/verdict.ts";
import type { Evidence } from "./schemas.ts";

export type { Evidence } from "./schemas.ts";
import { baselineOf } from "../../optimizer/report.ts";

/** All that was kept about one tool. */
export interface ToolRecords {
  /** The server's own description of today; undefined where the tool is gone. */
  canonical: string | undefined;
  /** The server's own texts of the tool's parameters today. */
  parameters?: OwnParameterTexts;
  prompts: readonly GoldenPrompt[];
  /** Newest first. */
  evaluations: readonly Evaluation[];
  /** Oldest first. */
  runs: readonly EvalRun[];
  /** The promoted text, if there is one: a candidate must beat it too. */
  inForce?: ToolText | undefined;
  /** What clients with a family's models get instead. */
  ofFamily?: Partial<Record<ModelFamily, ToolText>>;
}

/**
 * What decides on a candidate. What the gateway measured outranks what a caller reports, and a
 * thorough evaluation a quick one: else a refusal could be talked away.
 */
export function evidenceOf(
  candidateId: string,
  records: ToolRecords,
  /** If it is to be promoted for clients with such models only. */
  family?: ModelFamily,
): Evidence | undefined {
  const measured = records.evaluations.flatMap((evaluation) => {
    const evidence = measuredBy(evaluation, candidateId, records);
    return evidence ? [{ evaluation, evidence }] : [];
  });
  const holds = measured.filter(({ evidence }) => evidence.problem === undefined);
  const first = bestOf(candidateId, holds);
  if (!first) return reportedOf(candidateId, records) ?? measured[0]?.evidence;
  return { ...first.evidence, ...besideInForce(candidateId, first, records, family) };
}

const NOT_TESTED_BESIDE =
  "it was not tested against the promoted description, which it must beat; evaluate it " +
  "again to test both";

/** Nothing replaces the promoted description without having been compared with it. */
function besideInForce(
  candidateId: string,
  { evaluation: { results }, evidence: { verdict } }: Measured,
  records: ToolRecords,
  family: ModelFamily | undefined,
): Pick<Evidence, "verdict"> {
  const ofFamily = family && records.ofFamily?.[family];
  const inForce = ofFamily ?? records.inForce;
  const own = results.find((result) => result.candidateId === candidateId);
  if (inForce === undefined || own === undefined || !verdict) return {};
  const hash = textHash(inForce);
  if (textHash(own) === hash) return {};
  const isFor = (one: ModelFamily | undefined) =>
    one !== undefined && promotableFamilies(verdict).includes(one);
  if (!verdict.promote && !isFor(family)) return {};
  const isSame = records.inForce !== undefined && textHash(records.inForce) === hash;
  // What candidates are compared with has no verdict of its own. What is confirmed for all models was
  // compared with what is promoted for all.
  const isCompared = results.some((one) => textHash(one) === hash && one.verdict === undefined) &&
    (ofFamily === undefined || isSame || isFor(family));
  if (isCompared) return {};
  const { families: _, ...rest } = verdict;
  const words = `Do not promote: ${NOT_TESTED_BESIDE}. Compared with the server's own ` +
    `description: ${verdict.words.replace(/^Promote: /, "")}`;
  const rule = { rule: "improvement" as const, passed: false, words: NOT_TESTED_BESIDE };
  return { verdict: { ...rest, promote: false, words, rules: [...verdict.rules, rule] } };
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

function measuredBy(
  evaluation: Evaluation,
  candidateId: string,
  { canonical, parameters }: ToolRecords,
): Evidence | undefined {
  const found = evaluation.results.find((result) => result.candidateId === candidateId);
  const own = evaluation.results.find((result) => result.candidateId === CANONICAL);
  if (!found || !own) return undefined;
  const [parameter] = parameters
    ? parameterChanges(found, evaluation.canonicalParameters, parameters)
    : [];
  const changed = canonical !== undefined && own.description !== canonical
    ? "description"
    : parameter && `description of the parameter ${parameter.path}`;
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
      setting: evaluation.setting,
      models: found.models,
      verdict: evaluation.imported ? importedVerdict(found.verdict) : found.verdict,
      problem: problemOf(evaluation, found, changed),
    }),
  };
}

/** A file can say anything: a person decides on it. */
function importedVerdict(verdict: Verdict | undefined): Verdict | undefined {
  if (!verdict) return undefined;
  const { promote, proposed = false, words, families: _, ...rest } = verdict;
  return {
    ...rest,
    promote: false,
    proposed: promote || proposed,
    words: `Imported from a file, not measured by this gateway: ${words}`,
  };
}

/** Why an evaluation says nothing about a candidate, where that is so. */
function problemOf(
  evaluation: Evaluation,
  { verdict }: DescriptionResult,
  changed: string | undefined,
): string | undefined {
  if (evaluation.void !== undefined) return `The evaluation is void: ${evaluation.void}`;
  if (changed !== undefined) {
    return `The server's own ${changed} has changed since this evaluation: evaluate again`;
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

/**
 * Whether a candidate may be promoted on this, or in words why not: for all clients, or for those whose
 * model is of a family. What is confirmed for all is so for each family.
 */
export function refusalOf(
  evidence: Evidence | undefined,
  family?: ModelFamily,
): string | undefined {
  if (!evidence) return "No evaluation runs found for candidate - run evaluations first";
  if (evidence.problem !== undefined) return evidence.problem;
  if (!evidence.verdict) return "The evaluation has no verdict on this candidate";
  const { promote, words } = evidence.verdict;
  const isAllowed = promote ||
    (family !== undefined && promotableFamilies(evidence.verdict).includes(family));
  return isAllowed ? undefined : words;
}
