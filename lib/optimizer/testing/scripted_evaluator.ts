import * as z from "zod";
import type { EvaluatorKind } from "../../core/optimization.ts";
import type { Evaluator, Observation, RunRequest } from "../evaluators/evaluator.ts";

/** What a stand-in for a model does: tools it calls, or a whole observation. */
export type Script = (
  asked: Asked,
  request: RunRequest,
) => string[] | Observation | Promise<string[] | Observation>;

export interface Asked {
  prompt: string;
  /** The description of the tool on trial. */
  description: string;
  /** Counts up from 1. */
  call: number;
}

const Described = z.looseObject({ description: z.string().default("") });

/** An evaluator without a model; keeps what it was asked. */
export class ScriptedEvaluator implements Evaluator {
  readonly kind: EvaluatorKind;
  readonly model: string;
  readonly asked: Asked[] = [];
  /** The most runs that were under way at once. */
  most = 0;
  #running = 0;
  readonly #script: Script;

  constructor(script: Script, model = "stand-in", kind: EvaluatorKind = "claude-cli") {
    this.kind = kind;
    this.model = model;
    this.#script = script;
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  async run(request: RunRequest): Promise<Observation> {
    request.signal.throwIfAborted();
    const target = request.tools.find(({ name }) => name === request.target);
    const { description } = Described.parse(JSON.parse(target?.text ?? "{}"));
    const asked = { prompt: request.prompt, description, call: this.asked.length + 1 };
    this.asked.push(asked);
    this.most = Math.max(this.most, ++this.#running);
    try {
      const answer = await this.#script(asked, request);
      return Array.isArray(answer) ? called(...answer) : answer;
    } finally {
      this.#running--;
    }
  }
}

export function called(...names: string[]): Observation {
  return {
    status: "ok",
    calls: names.map((name) => ({ name, arguments: { city: "Rome" } })),
    reasoning: "I looked at the tools",
    durationMs: 5,
    cost: { inputTokens: 10, outputTokens: 2, costUsd: 0.01 },
    model: "stand-in-1",
  };
}

/** `request`: another try would fail as surely; `all`: so would every other; `timeout`: it hung. */
export function failed(reason: string, lasting?: "request" | "all" | "timeout"): Observation {
  return {
    status: "error",
    reason,
    durationMs: 5,
    cost: { inputTokens: 1, outputTokens: 0, costUsd: 0.001 },
    isLasting: lasting === "request" || lasting === "all",
    isGeneral: lasting === "all",
    isTimeout: lasting === "timeout",
  };
}

/** Resolves never, but throws when the request is aborted. */
export function hang({ signal }: RunRequest): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
