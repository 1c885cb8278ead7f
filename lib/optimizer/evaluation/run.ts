import { setTimeout as sleep } from "node:timers/promises";
import {
  type ClientView,
  type Depth,
  type EvalRun,
  type GoldenPrompt,
  type MissedBy,
  modelRef,
  newId,
  type PromptCategory,
  type RunCost,
  textHash,
  type Thresholds,
  type ToolText,
} from "../../core/optimization.ts";
import type { OwnParameterTexts } from "../../core/tool_text.ts";
import type {
  Evaluator,
  Observation,
  RunRequest,
  RunSteps,
  SearchTrace,
  ShownTool,
} from "../evaluators/evaluator.ts";
import type { ModelFamily } from "../../core/model_family.ts";
import { defined } from "../../core/defined.ts";
import { addCosts } from "../cost.ts";
import { errorMessage } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import { evaluationOf } from "./result.ts";
import { scoreRun } from "./scoring.ts";
import { EvaluationState, type Lesson, type PlannedRun } from "./state.ts";
import type { TrialLimits } from "./procedure.ts";

const MOST_REASONING = 4_000;
const MOST_ARGUMENTS = 4_000;

const MOST_ATTEMPTS = 3;
/** What did not end in time twice would not a third time, and takes long. */
export const MOST_TIMEOUTS = 2;
const FIRST_DELAY_MS = 1_000;

/** One of the texts that prompts are put to. */
export interface TestedText extends ToolText {
  /** CANONICAL, or a candidate's. */
  candidateId: string;
  isBaseline?: boolean;
  isOfFamily?: boolean;
}

export interface EvaluationInput {
  id: string;
  server: string;
  tool: string;
  depth: Depth;
  repeats: number;
  thresholds: Thresholds;
  /**
   * The canonical one, and others that candidates have to beat, are baselines. What only a family's
   * clients get is one for that family alone.
   */
  descriptions: TestedText[];
  /** Which of them clients with models of a family get instead of the one in force. */
  ofFamily?: Partial<Record<ModelFamily, string>> | undefined;
  /** What the server itself says of the tool's parameters. */
  ownParameters?: OwnParameterTexts;
  /** In a thorough evaluation held-out ones are fresh, and the others only screen candidates. */
  prompts: readonly GoldenPrompt[];
  /** Prompts meant for siblings, as negative ones: they show what is taken from them. */
  siblingPrompts?: readonly GoldenPrompt[];
  /** What a thorough evaluation may spend on chance. */
  alpha?: number;
  limits?: TrialLimits;
  /** Writes fresh prompts, of this category at least; none if that is not possible. */
  write?(category: PromptCategory): Promise<GoldenPrompt[]>;
  /** If candidates are written during the evaluation: in how many rounds, and what is over of them. */
  writing?: { rounds: number; first: number; parents: readonly string[] };
  /** Writes candidates from what a description got wrong; none if that is not possible. */
  reflect?(lesson: Lesson): Promise<TestedText[]>;
  /** One, or several models. */
  evaluators: readonly Evaluator[];
  shown(text: ToolText): readonly ShownTool[];
  target: string;
  view?: ClientView;
  /** For one run, if the tools have to be found by our own search. */
  openSteps?: ((text: ToolText) => RunSteps) | undefined;
  /** Whether arguments have to fit, and named siblings to be called. */
  isStrict?: boolean;
  /** How the tools are shown, in words, if not all at once. */
  setting?: string | undefined;
  concurrency: number;
  /** Its own from before a restart, and earlier evaluations' of the same: these are not repeated. */
  finished: readonly EvalRun[];
  save(run: EvalRun): Promise<void>;
  /** Where our own search finds the tool with this text. */
  ranks?(text: ToolText): Record<string, number | null>;
  onProgress?(progress: EvaluationProgress): void;
  /** Asked before each run: a reason, and no further run is begun. */
  mayRun?(): Promise<string | undefined> | string | undefined;
  /** Before a second try; default: 1 s. */
  retryDelayMs?: number;
  signal: AbortSignal;
}

export interface EvaluationProgress {
  runsDone: number;
  runsTotal: number;
  byCategory: Record<PromptCategory, { done: number; total: number }>;
  /** From 1. */
  currentCandidate?: number;
}

/** Puts prompts to the descriptions of a tool as the test asks for them. Throws if the signal aborts. */
export async function evaluate(given: EvaluationInput) {
  // Candidates that are written meanwhile are added.
  const input = { ...given, descriptions: [...given.descriptions] };
  const now = new Date().toISOString();
  const own = input.finished.filter(({ evaluationId }) => evaluationId === input.id);
  const startedAt = own.reduce(
    (first, { timestamp }) => timestamp < first ? timestamp : first,
    now,
  );
  const state = new EvaluationState(input);
  const { lasting, cut } = await makeRuns(input, state);
  const endedAt = new Date().toISOString();
  return {
    evaluation: evaluationOf(input, state, { startedAt, endedAt, lasting, cut }),
    runs: state.ownRuns,
    lasting,
  };
}

async function makeRuns(input: EvaluationInput, state: EvaluationState) {
  const ending = new AbortController();
  const signal = AbortSignal.any([input.signal, ending.signal]);
  let lasting: string | undefined;
  let cut: string | undefined;
  /** Models whose last run ended in time: one prompt may take forever, a second run shows more. */
  const answering = new Set<Evaluator>();
  const report = () => input.onProgress?.(state.progress());

  async function make(planned: PlannedRun): Promise<void> {
    const { evaluator } = planned;
    const tried = await runWithRetries(evaluator, {
      prompt: planned.prompt.prompt,
      tools: input.shown(testedText(input, planned.candidateId)),
      target: input.target,
      view: input.view,
      openSteps: input.openSteps?.bind(null, testedText(input, planned.candidateId)),
      signal,
    }, input.retryDelayMs);
    const { observation } = tried;
    const text = testedText(input, planned.candidateId);
    const run = runOf({ ...input, text, tools: input.shown(text) }, planned, tried);
    const isHung = observation.status === "error" && observation.isTimeout === true;
    await input.save(run);
    state.add(planned, run);
    report();
    // One that only this prompt meets, or only this tool, says nothing about the others.
    const isStuck = isHung && !answering.has(evaluator);
    if (observation.status === "error" && (observation.isGeneral || isStuck)) {
      const which = input.evaluators.length > 1 ? `${modelRef(evaluator)}: ` : "";
      lasting ??= which + observation.reason;
      ending.abort();
    }
    if (isHung) answering.delete(evaluator);
    else answering.add(evaluator);
  }

  report();
  input.signal.throwIfAborted();
  const running = new Set<Promise<void>>();
  let failure: { reason: unknown } | undefined;
  // Whatever goes wrong, no run goes on unseen.
  const fail = (reason: unknown) => {
    if (ending.signal.aborted) return;
    failure = { reason };
    ending.abort();
  };
  while (!signal.aborted) {
    const canBegin = running.size < Math.max(1, input.concurrency) && cut === undefined &&
      !state.isBeyondHope;
    const planned = canBegin ? state.next() : undefined;
    if (planned) {
      try {
        cut = await input.mayRun?.();
      } catch (error) {
        fail(error);
      }
      if (cut !== undefined || signal.aborted) continue;
      report();
      const run: Promise<void> = make(planned).catch(fail).finally(() => running.delete(run));
      running.add(run);
    } else if (running.size > 0) {
      await Promise.race(running);
    } else {
      const lesson = canBegin ? state.lesson() : undefined;
      if (lesson) {
        state.addCandidates(await input.reflect?.(lesson) ?? [], lesson.parent);
        continue;
      }
      const lacking = canBegin ? state.lacking() : undefined;
      if (lacking === undefined) break;
      state.addFresh(await input.write?.(lacking) ?? [], lacking);
    }
  }
  await Promise.all(running);
  input.signal.throwIfAborted();
  if (failure) throw failure.reason;
  return { lasting, cut };
}

interface RunSetting
  extends Pick<EvaluationInput, "id" | "server" | "tool" | "target" | "isStrict"> {
  text: ToolText;
  tools: readonly ShownTool[];
}

/** The record of a run. */
export function runOf(input: RunSetting, planned: PlannedRun, tried: Tried): EvalRun {
  const { candidateId, prompt, repeat, evaluator } = planned;
  const { observation, attempts, cost } = tried;
  const { text } = input;
  const now = Date.now();
  const base = {
    id: newId("run", now),
    server: input.server,
    toolName: input.tool,
    candidateId,
    promptId: prompt.id,
    promptVersion: prompt.version,
    evaluationId: input.id,
    repeat,
    timestamp: new Date(now).toISOString(),
    evaluator: evaluator.kind,
    askedModel: evaluator.model,
    descriptionHash: textHash(text),
    cost,
    attempts,
  };
  if (observation.status === "error") {
    const { reason, durationMs } = observation;
    return {
      ...base,
      status: "error",
      result: { toolCalled: false, correct: false, error: reason, durationMs },
      calls: [],
      model: evaluator.model,
    };
  }
  const tools = new Map(input.tools.map((tool) => [tool.name, tool]));
  const scored = scoreRun(prompt, {
    ...{ calls: observation.calls, target: input.target, server: input.server },
    tools: input.tools,
    isStrict: input.isStrict ?? false,
  });
  return {
    ...base,
    status: "ok",
    result: {
      ...scored,
      reasoning: observation.reasoning.slice(0, MOST_REASONING),
      durationMs: observation.durationMs,
      ...defined({
        missed: scored.toolCalled || !prompt.expectedBehavior.shouldCallTool
          ? undefined
          : missedBy(observation.search),
      }),
    },
    calls: observation.calls.map(({ name, arguments: given }) => {
      const shown = tools.get(name);
      return {
        name,
        ...(shown ? { server: shown.server, tool: shown.tool } : {}),
        arguments: capped(given ?? {}),
      };
    }),
    model: observation.model ?? evaluator.model,
  };
}

function missedBy(search: SearchTrace | undefined): MissedBy | undefined {
  if (search === undefined) return undefined;
  return search.found ? "not-called" : search.searched ? "not-found" : "not-searched";
}

/** A model can write whole files into a call. */
function capped(given: unknown): unknown {
  const text = JSON.stringify(given);
  if (text.length <= MOST_ARGUMENTS) return given;
  return `${shortened(text, MOST_ARGUMENTS)} (cut from ${text.length} characters)`;
}

function testedText(input: EvaluationInput, candidateId: string): ToolText {
  const found = input.descriptions.find((one) => one.candidateId === candidateId);
  if (found) return found;
  throw new RangeError(`The evaluation has no description "${candidateId}"`);
}

export interface Tried {
  observation: Observation;
  attempts: number;
  cost: RunCost;
}

/** Tries again where another try may go well. Throws only where the request's signal aborts. */
export async function runWithRetries(
  evaluator: Evaluator,
  request: RunRequest,
  /** Before the second try; twice as long before the third. */
  delayMs = FIRST_DELAY_MS,
): Promise<Tried> {
  const costs: RunCost[] = [];
  let timeouts = 0;
  for (let attempts = 1;; attempts++) {
    const observation = await runOnce(evaluator, request);
    costs.push(observation.cost);
    const isFinal = observation.status === "ok" || observation.isLasting;
    const isTimeout = observation.status === "error" && observation.isTimeout === true;
    if (isTimeout) timeouts++;
    if (isFinal || attempts >= MOST_ATTEMPTS || timeouts >= MOST_TIMEOUTS) {
      return { observation, attempts, cost: addCosts(...costs) };
    }
    // It has waited long enough.
    if (isTimeout) continue;
    // Half of it by chance, so that runs that failed together do not come back together.
    const wait = delayMs * 2 ** (attempts - 1) * (0.5 + Math.random() / 2);
    await sleep(wait, undefined, { signal: request.signal }).catch(() => {});
  }
}

async function runOnce(evaluator: Evaluator, request: RunRequest): Promise<Observation> {
  request.signal.throwIfAborted();
  const startedAt = performance.now();
  try {
    const observation = await evaluator.run(request);
    // What an ended process has shown so far says nothing.
    request.signal.throwIfAborted();
    return observation;
  } catch (error) {
    request.signal.throwIfAborted();
    return {
      status: "error",
      reason: `The evaluator failed: ${errorMessage(error)}`,
      durationMs: performance.now() - startedAt,
      cost: { inputTokens: 0, outputTokens: 0 },
      isLasting: false,
    };
  }
}
