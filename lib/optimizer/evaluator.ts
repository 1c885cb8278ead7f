import type { EvaluatorKind, RunCost } from "../core/optimization.ts";

/** A tool as a model is shown it in a run. */
export interface ShownTool {
  /** The flat name it is listed under. */
  name: string;
  server: string;
  /** The server's own name for it. */
  tool: string;
  /** The whole definition under the flat name, as JSON, with the description that is shown. */
  text: string;
}

/** One prompt for a model that has these tools. */
export interface RunRequest {
  prompt: string;
  tools: readonly ShownTool[];
  /** The flat name of the tool whose description is on trial; it must be listed. */
  target: string;
  signal: AbortSignal;
}

/** What the model did; or why nothing can be said about that. */
export type Observation =
  | {
    status: "ok";
    /** Tools it called, by flat name, in order. */
    calls: { name: string; arguments: unknown }[];
    /** What it said beside. */
    reasoning: string;
    durationMs: number;
    cost: RunCost;
    model?: string | undefined;
  }
  | {
    status: "error";
    /** In words. */
    reason: string;
    durationMs: number;
    cost: RunCost;
    /** Whether another try would fail as surely. */
    isLasting: boolean;
    /** Whether every other run would, whatever its prompt and tools: not installed, no credentials. */
    isGeneral?: boolean;
  };

/** The program that runs are made with. */
export interface EvaluatorProgram {
  path: string;
  /** As it says itself; empty where it says nothing. */
  version: string;
}

/** Puts a prompt to a model and sees which tools it calls; never runs a tool. */
export interface Evaluator {
  readonly kind: EvaluatorKind;
  readonly model: string;
  /** False where it never says what a run costs. */
  readonly isPriced?: boolean;
  /** What the last check found, where runs are made by a program. */
  readonly program?: EvaluatorProgram | undefined;
  /**
   * Throws CANNOT_EVALUATE where no run could succeed, with what to do about it. Asks no model: one
   * that passes may still be refused by it.
   */
  check(): Promise<void>;
  /** Never throws but for an aborted signal; tries once. */
  run(request: RunRequest): Promise<Observation>;
}
