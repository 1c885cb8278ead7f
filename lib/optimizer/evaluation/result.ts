import {
  CANONICAL,
  type DescriptionResult,
  type EvalRun,
  type Evaluation,
  type Verdict,
} from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { counted } from "../../core/text.ts";
import { confusionOf } from "./confusion.ts";
import type { EvaluationInput } from "./run.ts";
import { type EvaluationState, MOST_ERRORS, toolsBeside } from "./state.ts";
import { countRuns, emptyCategoryWarnings, errorsIn } from "./metrics.ts";
import { addCosts } from "../cost.ts";
import { leastDeciding, tooFewPrompts } from "./verdict.ts";

const MOST_REASONS = 3;

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
  const { runs } = state;
  const voided = voidReason(runs, end.lasting);
  const model = runs.find((run) => run.model !== undefined)?.model ?? input.evaluator.model;
  const beside = toolsBeside(input);
  return {
    id: input.id,
    server: input.server,
    toolName: input.tool,
    depth: input.depth,
    startedAt: end.startedAt,
    endedAt: end.endedAt,
    evaluator: input.evaluator.kind,
    model,
    thresholds: input.thresholds,
    prompts: { ...state.prompts },
    repeats: input.repeats,
    results: input.descriptions.map((one) => resultOf(one, input, state, end, voided)),
    runs: runs.length,
    errors: errorsIn(runs),
    cost: addCosts(...runs.map(({ cost }) => cost)),
    ...defined({
      beside: beside.length === 0 ? undefined : beside,
      confirms: input.confirms,
      void: voided,
    }),
    warnings: warningsOf(input, state, end),
  };
}

function resultOf(
  { candidateId, description }: EvaluationInput["descriptions"][number],
  input: EvaluationInput,
  state: EvaluationState,
  end: EvaluationEnd,
  voided: string | undefined,
): DescriptionResult {
  const runs = state.runsOf(candidateId);
  const compared = candidateId === CANONICAL ? {} : {
    paired: state.pairedOf(candidateId),
    verdict: verdictOf(candidateId, input, state, end.cut, voided),
  };
  return {
    candidateId,
    description,
    metrics: countRuns(runs, state.deciding),
    ...compared,
    errors: errorsIn(runs),
    confusion: confusionOf(runs, [...input.prompts, ...input.siblingPrompts ?? []], input.tool),
    ranks: input.ranks?.(description) ?? {},
  };
}

function verdictOf(
  candidateId: string,
  { depth, repeats, descriptions }: EvaluationInput,
  state: EvaluationState,
  cut: string | undefined,
  voided: string | undefined,
): Verdict {
  const verdict = state.verdictOf(candidateId);
  if (voided !== undefined) return withheld(verdict, `The evaluation is void: ${voided}`);
  const { made, planned } = state.evidenceOf(candidateId);
  if (made >= planned) return verdict;
  if (state.settled.has(candidateId)) {
    const candidates = descriptions.length - 1;
    const few = depth === "thorough" && made === 0
      ? tooFewPrompts(state.deciding.length, candidates)
      : undefined;
    if (few !== undefined) {
      const [least, lacks] = [leastDeciding(candidates), `not enough evidence: ${few}`];
      const morePrompts = least - state.deciding.length;
      return { ...withheld(verdict, lacks), moreRuns: 2 * repeats * least, morePrompts };
    }
    const stopped = stopText(candidateId, state);
    return { ...verdict, words: `${verdict.words} ${stopped}`, stopped };
  }
  // Another evaluation begins from the beginning.
  const words = `not enough evidence: only ${made} of ${planned} runs completed` +
    `${cut === undefined ? "" : ` because ${cut}`}; another evaluation takes up to ${planned} runs`;
  return { ...withheld(verdict, words), moreRuns: planned };
}

/** By prompts, or by runs if only repeats or siblings' prompts were left. */
function stopText(candidateId: string, state: EvaluationState): string {
  const { asked, of } = state.promptsOf(candidateId);
  const { made, planned } = state.stopOf(candidateId);
  const place = asked < of ? `${asked} of ${of} prompts` : `${made} of ${planned} runs`;
  return `Stopped early after ${place}: the rest could not change the verdict.`;
}

function withheld(verdict: Verdict, words: string): Verdict {
  const others = verdict.rules.filter(({ rule }) => rule !== "evidence");
  return {
    ...verdict,
    promote: false,
    words,
    rules: [{ rule: "evidence", passed: false, words }, ...others],
  };
}

function voidReason(runs: readonly EvalRun[], lasting: string | undefined): string | undefined {
  if (lasting !== undefined) return `no run can succeed: ${lasting}`;
  const errors = runs.filter(({ status }) => status === "error");
  if (errors.length <= MOST_ERRORS * runs.length) return undefined;
  const reasons = Map.groupBy(errors, ({ result }) => result.error ?? "unknown");
  const most = [...reasons].sort(([, one], [, other]) => other.length - one.length)
    .slice(0, MOST_REASONS).map(([reason, all]) => `${reason} (${counted(all.length, "time")})`);
  return `${errors.length} of ${runs.length} runs failed, more than ${100 * MOST_ERRORS} %; ` +
    `most often: ${most.join("; ")}`;
}

function warningsOf(
  input: EvaluationInput,
  state: EvaluationState,
  { cut }: EvaluationEnd,
): string[] {
  const stopped = [...state.settled].flatMap((candidateId) => {
    const { made, planned } = state.stopOf(candidateId);
    return made >= planned
      ? []
      : `Stopped early for candidate "${candidateId}": after ${made} of the ${planned} runs ` +
        "with it and the server's own description, the rest could not change the outcome";
  });
  const models = new Set(
    state.runs.flatMap(({ status, model }) => status === "ok" ? model ?? [] : []),
  );
  return [
    ...emptyCategoryWarnings(state.deciding),
    ...(input.depth === "thorough" && state.deciding.length === 0
      ? ["Every prompt was visible when candidates were written, so none can decide"]
      : []),
    ...stopped,
    ...Array.from(
      state.leftOut,
      ([model, count]) =>
        `${count === 1 ? "1 finished run was" : `${count} finished runs were`} not counted: ` +
        `model "${model}" cannot be compared with "${input.evaluator.model}"`,
    ),
    ...(models.size < 2
      ? []
      : [`More than one model answered, which may explain differences: ${[...models].join(", ")}`]),
    ...(cut === undefined ? [] : [`Not all runs completed because ${cut}`]),
  ];
}
