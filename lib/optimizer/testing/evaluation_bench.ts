import assert from "node:assert/strict";
import {
  CANONICAL,
  type DescriptionResult,
  EvalRun,
  type Evaluation,
  Thresholds,
} from "../../core/optimization.ts";
import type { EvaluationInput } from "../evaluation/run.ts";
import { type Script, ScriptedEvaluator } from "./scripted_evaluator.ts";
import { GOOD, POOR, somePrompts, TARGET, WeatherSubjects } from "./weather.ts";

export interface EvaluationBench {
  input: EvaluationInput;
  evaluator: ScriptedEvaluator;
  saved: EvalRun[];
}

/** What evaluate() takes: a poor description and a good one, five prompts a category. */
export function evaluationBench(
  script: Script,
  more: Partial<EvaluationInput> = {},
): EvaluationBench {
  const evaluator = new ScriptedEvaluator(script);
  const saved: EvalRun[] = [];
  const targets = new WeatherSubjects();
  const input: EvaluationInput = {
    id: "evaluation_1",
    server: "weather",
    tool: "get_forecast",
    depth: "quick",
    repeats: 1,
    thresholds: Thresholds.parse({}),
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "good", description: GOOD },
    ],
    prompts: somePrompts(),
    evaluators: [evaluator],
    shown: (text) => targets.shown("weather", "get_forecast", text, []),
    target: TARGET,
    concurrency: 1,
    finished: [],
    save: (run) => {
      saved.push(EvalRun.parse(run));
      return Promise.resolve();
    },
    retryDelayMs: 1,
    signal: new AbortController().signal,
    ...more,
  };
  return { input, evaluator, saved };
}

export function resultOf(evaluation: Evaluation, candidateId: string): DescriptionResult {
  const result = evaluation.results.find((one) => one.candidateId === candidateId);
  assert.ok(result);
  return result;
}
