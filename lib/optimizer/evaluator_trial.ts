import { GatewayError } from "../core/errors.ts";
import type { RunCost } from "../core/optimization.ts";
import type { Evaluator, Observation, ShownTool } from "./evaluator.ts";

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

export interface EvaluatorTrialOptions {
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
