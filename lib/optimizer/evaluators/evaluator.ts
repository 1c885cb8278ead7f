import { z } from "zod";
import { EvaluatorKind, type RunCost } from "../../core/optimization.ts";
import { GatewayError } from "../../core/errors.ts";

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

/** The evaluator in use, or why there is none. */
export const EvaluatorInfo = z.object({
  kind: EvaluatorKind.nullable(),
  model: z.string().nullable(),
  problem: z.string().nullable(),
});
export type EvaluatorInfo = z.infer<typeof EvaluatorInfo>;

/** The program that runs are made with. */
export const EvaluatorProgram = z.object({
  path: z.string(),
  version: z.string().describe("As it says itself; empty if it says nothing"),
});
export type EvaluatorProgram = z.infer<typeof EvaluatorProgram>;

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

/** One real request, made to see whether evaluations would work. */
export interface TrialResult {
  /** When it ended, in ms since the epoch. */
  at: number;
  outcome: "right" | "wrong" | "failed";
  /** What the model did, or why nothing came of it, with what to do. */
  words: string;
  model: string;
  durationMs: number;
  cost: RunCost;
}

interface EvaluatorTrialOptions {
  /** Throws CANNOT_EVALUATE. */
  evaluator(): Promise<Evaluator>;
  isEnabled(): boolean;
  now?: () => number;
}

const TARGET = "weather_forecast";
const PROMPT = "Will it rain in Lisbon tomorrow?";

/** Two tools that no model confuses: what is tried is the way to the model, not the model. */
const TOOLS: ShownTool[] = [
  {
    name: TARGET,
    description: "Forecast the weather of a city for a day: rain, wind and temperature.",
    properties: { city: { type: "string" }, day: { type: "string" } },
  },
  {
    name: "mail_send",
    description: "Send an e-mail to one person.",
    properties: { to: { type: "string" }, text: { type: "string" } },
  },
].map(({ name, description, properties }) => ({
  name,
  server: "trial",
  tool: name,
  text: JSON.stringify({ name, description, inputSchema: { type: "object", properties } }),
}));

/** Makes a request as an evaluation does, one at a time, and remembers how the last one went. */
export class EvaluatorTrial {
  readonly #options: EvaluatorTrialOptions;
  #isRunning = false;
  #last: TrialResult | undefined;

  constructor(options: EvaluatorTrialOptions) {
    this.#options = options;
  }

  get last(): TrialResult | undefined {
    return this.#last;
  }

  /** Spends model time. Throws OPTIMIZATION_DISABLED, CANNOT_EVALUATE or OPERATION_IN_PROGRESS. */
  async run(signal: AbortSignal): Promise<TrialResult> {
    const { evaluator: find, isEnabled, now = Date.now } = this.#options;
    if (!isEnabled()) {
      throw new GatewayError("OPTIMIZATION_DISABLED", {
        message: "Cannot test the evaluator: optimization is off, because it spends model time",
        recoveryAction: "Switch optimization on, then run the test again",
      });
    }
    if (this.#isRunning) {
      throw new GatewayError("OPERATION_IN_PROGRESS", {
        message: "Cannot test the evaluator: a test is running",
        recoveryAction: "Wait for its end, then look at its result",
      });
    }
    this.#isRunning = true;
    try {
      const evaluator = await find();
      const seen = await evaluator.run({ prompt: PROMPT, tools: TOOLS, target: TARGET, signal });
      return this.#last = {
        at: now(),
        ...inWords(seen),
        model: seen.status === "ok" ? seen.model ?? evaluator.model : evaluator.model,
        durationMs: seen.durationMs,
        cost: seen.cost,
      };
    } finally {
      this.#isRunning = false;
    }
  }
}

function inWords(seen: Observation): Pick<TrialResult, "outcome" | "words"> {
  if (seen.status === "error") {
    const advice = seen.isLasting
      ? "Set that right: every evaluation would fail in the same way"
      : "It may have been the moment: run the test again";
    return { outcome: "failed", words: `${seen.reason.replace(/[.\s]+$/, "")}. ${advice}` };
  }
  const [first] = seen.calls;
  if (first?.name === TARGET) {
    return {
      outcome: "right",
      words: `Asked "${PROMPT}", the model chose the right one of two tools`,
    };
  }
  const did = first === undefined ? "called no tool" : `called ${first.name}`;
  return {
    outcome: "wrong",
    words: `The way to the model works, but asked "${PROMPT}" it ${did} in place of ${TARGET}. ` +
      "Choose a more capable model with --eval-model",
  };
}

/** The model had not finished. */
const CUT_OFF = ["max_tokens", "model_context_window_exceeded", "pause_turn"];

/** Whether what a model said ends where it was stopped: what it would have done next is not known. */
export function isCutOff(stopReason: string | null | undefined): boolean {
  return CUT_OFF.includes(stopReason ?? "");
}
