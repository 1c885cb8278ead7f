import {
  CANONICAL,
  type DescriptionResult,
  type EvalRun,
  type Evaluation,
  modelRef,
  type ModelResult,
  type Verdict,
} from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { replacedBy, textOf } from "../../core/tool_text.ts";
import { counted } from "../../core/text.ts";
import { confusionOf, theftsOf } from "./confusion.ts";
import type { Evaluator } from "../evaluators/evaluator.ts";
import type { EvaluationInput, TestedText } from "./run.ts";
import { type EvaluationState, MOST_ERRORS, toolsBeside } from "./state.ts";
import { byCategory, countRuns, emptyCategoryWarnings, errorsIn } from "./metrics.ts";
import { addCosts } from "../cost.ts";
import { confirmedVerdict, judge, screenedOut, type VerdictInput, worstGain } from "./verdict.ts";
import { familyOfModel } from "../../core/model_family.ts";

const MOST_REASONS = 3;
/** What a further evaluation asks at a time. */
const MORE_PROMPTS = 30;

interface EvaluationEnd {
  startedAt: string;
  endedAt: string;
  /** An error that every other run would have met too. */
  lasting?: string | undefined;
  cut?: string | undefined;
}

export function evaluationOf(
  input: EvaluationInput,
  state: EvaluationState,
  end: EvaluationEnd,
): Evaluation {
  const runs = state.ownRuns;
  const voided = voidReason(runs, end.lasting);
  const [first, ...others] = input.evaluators as [Evaluator, ...Evaluator[]];
  const model =
    runs.find((run) => run.model !== undefined && run.evaluator === first.kind)?.model ??
      first.model;
  const beside = toolsBeside(input);
  const own = replacedBy(input.descriptions, input.ownParameters ?? {});
  return {
    id: input.id,
    server: input.server,
    toolName: input.tool,
    depth: input.depth,
    startedAt: end.startedAt,
    endedAt: end.endedAt,
    evaluator: first.kind,
    model,
    askedModel: first.model,
    ...(others.length === 0 ? {} : { models: input.evaluators.map(modelRef) }),
    thresholds: input.thresholds,
    ...defined({ alpha: input.depth === "thorough" ? input.alpha : undefined }),
    prompts: promptCounts(input, state),
    repeats: input.repeats,
    results: input.descriptions.map((one) => resultOf(one, input, state, end, voided)),
    runs: runs.length,
    errors: errorsIn(runs),
    cost: addCosts(...runs.map(({ cost }) => cost)),
    ...defined({
      beside: beside.length === 0 ? undefined : beside,
      setting: input.setting,
      canonicalParameters: Object.keys(own).length === 0 ? undefined : own,
      void: voided,
    }),
    warnings: warningsOf(input, state, end),
  };
}

/** Those that decided; if it was cut short, those that could have. */
function promptCounts(
  { depth, prompts }: EvaluationInput,
  state: EvaluationState,
): Evaluation["prompts"] {
  const deciding = depth === "quick"
    ? prompts
    : state.attempts() === undefined
    ? state.fresh
    : state.promptsOf(CANONICAL);
  return byCategory((category) => deciding.filter((prompt) => prompt.category === category).length);
}

function resultOf(
  { candidateId, ...text }: TestedText,
  input: EvaluationInput,
  state: EvaluationState,
  end: EvaluationEnd,
  voided: string | undefined,
): DescriptionResult {
  const runs = state.runs.filter((run) => run.candidateId === candidateId);
  const paired = state.pairedOf(candidateId);
  const compared = state.isBaseline(candidateId) ? {} : {
    ...(paired.candidate.overall.total === 0 ? {} : { paired }),
    verdict: verdictOf(candidateId, input, state, end.cut, voided),
  };
  return {
    candidateId,
    ...textOf(text),
    metrics: state.metricsOf(candidateId),
    ...compared,
    errors: errorsIn(runs),
    confusion: confusionOf(runs, [...state.screen, ...state.fresh], input.tool),
    ranks: input.ranks?.(text) ?? {},
    ...defined({
      models: modelResults(candidateId, state),
      missed: countsOf(runs.map(({ result }) => result.missed)),
      arguments: countsOf(runs.map(({ result }) => result.arguments)),
    }),
  };
}

/** Each model's numbers, where there are several. */
function modelResults(candidateId: string, state: EvaluationState): ModelResult[] | undefined {
  if (state.models.length < 2) return undefined;
  const isBaseline = state.isBaseline(candidateId);
  const attempt = state.attempts()?.find(({ candidate }) => candidate === candidateId);
  return state.models.map(({ id, evaluator }) => {
    const paired = state.pairedOf(candidateId, [id]);
    const gains = attempt?.models?.find(({ model }) => model === id)?.gains;
    return {
      model: id,
      ...defined({
        family: familyOfModel(evaluator.model),
        baseline: isBaseline ? undefined : paired.baseline,
        gain: gains && worstGain({ gains }).gain,
      }),
      metrics: isBaseline ? state.metricsOf(candidateId, [id]) : paired.candidate,
    };
  });
}

function countsOf<T extends string>(
  found: readonly (T | undefined)[],
): Partial<Record<T, number>> | undefined {
  const counts = Map.groupBy(found.filter((one) => one !== undefined), (one) => one);
  if (counts.size === 0) return undefined;
  const entries = Array.from(counts, ([one, { length }]) => [one, length] as const);
  return Object.fromEntries(entries) as Partial<Record<T, number>>;
}

function verdictOf(
  candidateId: string,
  input: EvaluationInput,
  state: EvaluationState,
  cut: string | undefined,
  voided: string | undefined,
): Verdict {
  const attempts = state.attempts();
  const attempt = attempts?.find(({ candidate }) => candidate === candidateId);
  const given = verdictInput(candidateId, input, state);
  const verdict = input.depth === "quick"
    ? judge(given)
    : attempt
    ? confirmedVerdict({ ...given, attempt, morePrompts: MORE_PROMPTS })
    : screenedOut(given);
  if (voided !== undefined) return withheld(verdict, `The evaluation is void: ${voided}`);
  if (attempts !== undefined) return verdict;
  const made = state.ownRuns.length;
  const { runsTotal } = state.progress();
  const words = `not enough evidence: only ${made} of about ${runsTotal} runs completed` +
    `${cut === undefined ? "" : ` because ${cut}`}`;
  return { ...withheld(verdict, words), moreRuns: Math.max(1, runsTotal - made) };
}

function verdictInput(
  candidateId: string,
  input: EvaluationInput,
  state: EvaluationState,
): VerdictInput {
  const models = state.modelsOf(candidateId);
  const candidate = state.runsOf(candidateId, models);
  const baseline = state.runsOf(CANONICAL, models);
  const prompts = state.promptsOf(candidateId);
  const replaced = state.replacedBy(candidateId);
  const asked = [...state.screen, ...state.fresh];
  return {
    depth: input.depth,
    thresholds: input.thresholds,
    candidate: countRuns(candidate, prompts),
    baseline: countRuns(baseline, prompts),
    // Of each model by itself: what one takes, another must not hide.
    thefts: state.models.length < 2
      ? theftsOf(candidate, baseline, asked)
      : models.flatMap((model) =>
        theftsOf(state.runsOf(candidateId, [model]), state.runsOf(CANONICAL, [model]), asked)
          .map((theft) => ({ ...theft, model }))
      ),
    pairs: state.pairsOf(candidateId, CANONICAL, models),
    beside: toolsBeside(input).length,
    setting: input.setting,
    ...(replaced.length === 0 ? {} : {
      inForce: replaced.flatMap(({ baseline, models }) =>
        state.pairsOf(candidateId, baseline, models)
      ),
    }),
  };
}

function withheld(verdict: Verdict, words: string): Verdict {
  const { proposed: _, confirmed: __, families: ___, ...rest } = verdict;
  const others = verdict.rules.filter(({ rule }) => rule !== "evidence");
  return {
    ...rest,
    promote: false,
    words,
    rules: [{ rule: "evidence", passed: false, words }, ...others],
  };
}

function voidReason(runs: readonly EvalRun[], lasting: string | undefined): string | undefined {
  if (lasting !== undefined) return `no run can succeed: ${lasting}`;
  const groups = Map.groupBy(runs, modelOf);
  const [bad] = [...groups].filter(([, own]) => errorsIn(own) > MOST_ERRORS * own.length);
  if (bad === undefined) return undefined;
  const [model, own] = bad;
  const errors = own.filter(({ status }) => status === "error");
  const reasons = Map.groupBy(errors, ({ result }) => result.error ?? "unknown");
  const most = [...reasons].sort(([, one], [, other]) => other.length - one.length)
    .slice(0, MOST_REASONS).map(([reason, all]) => `${reason} (${counted(all.length, "time")})`);
  const which = groups.size > 1 ? ` with ${model}` : "";
  return `${errors.length} of ${own.length} runs${which} failed, more than ${
    100 * MOST_ERRORS
  } %; ` +
    `most often: ${most.join("; ")}`;
}

/** As modelRef() names the model that was asked. */
export function modelOf({ evaluator: kind, askedModel, model }: EvalRun): string {
  return modelRef({ kind, model: askedModel ?? model ?? "unknown" });
}

function warningsOf(
  input: EvaluationInput,
  state: EvaluationState,
  { cut }: EvaluationEnd,
): string[] {
  const answered = state.models.map(({ evaluator: { kind, model: asked } }) =>
    new Set(
      state.runs.flatMap(({ status, model, evaluator, askedModel = asked }) =>
        status === "ok" && evaluator === kind && askedModel === asked ? model ?? [] : []
      ),
    )
  ).filter(({ size }) => size > 1);
  const isConfirming = input.depth === "thorough";
  return [
    ...emptyCategoryWarnings(isConfirming ? state.fresh : state.screen),
    ...Array.from(
      state.leftOut,
      ([model, count]) =>
        `${count === 1 ? "1 finished run was" : `${count} finished runs were`} not counted: ` +
        `model "${model}" cannot be compared with ${
          input.evaluators.map((one) => `"${one.model}"`).join(" or ")
        }`,
    ),
    ...answered.map((models) =>
      `More than one model answered, which may explain differences: ${[...models].join(", ")}`
    ),
    ...(cut === undefined ? [] : [`Not all runs completed because ${cut}`]),
  ];
}
