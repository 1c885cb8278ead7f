import * as z from "zod";
import type { Client, McpRequest } from "../../core/client.ts";
import type { ClientView, EvaluatorKind, RunCost } from "../../core/optimization.ts";
import type { ModelPrice } from "./prices.ts";
import { GatewayError } from "../../core/errors.ts";

export interface ShownTool {
  /** The flat name it is listed under. */
  name: string;
  server: string;
  tool: string;
  /** The whole definition under the flat name, as JSON, with the description that is shown. */
  text: string;
}

export interface RunRequest {
  prompt: string;
  tools: readonly ShownTool[];
  /** The flat name of the tool whose description is on trial; it must be listed. */
  target: string;
  /** Default: inline. */
  view?: ClientView | undefined;
  /** What is offered in the place of the tools, if the target has to be found with it. */
  openSteps?: (() => RunSteps) | undefined;
  signal: AbortSignal;
}

export interface ChosenCall {
  name: string;
  arguments: unknown;
}

/** What one run may call on its way to a choice, such as a search for tools. */
export interface RunSteps {
  /**
   * Ends when every text is searched alike. A text that is indexed later than the others would seem
   * harder to find.
   */
  ready(): Promise<void>;
  instructions: string;
  /** Definitions of the tools that are listed, and the name of one of them. */
  listed: readonly string[];
  entry: string;
  isStep(name: string): boolean;
  /** The tool that a call chooses, by flat name; undefined if the call is only a step. */
  choiceOf(call: ChosenCall): ChosenCall | undefined;
  /** The result of a step. */
  answer(request: McpRequest, client: Client): Promise<Record<string, unknown>>;
  /** What of it has happened so far. */
  readonly search: SearchTrace;
}

/** Whether the model searched before it chose, and whether that showed it the target. */
export interface SearchTrace {
  searched: boolean;
  found: boolean;
}

/** Requests that a run may make where the model first has to find the target. */
export const MOST_TURNS = 6;

export interface RunProblem {
  reason: string;
  isLasting: boolean;
  /** Whether every other run would, whatever its prompt and tools: not installed, no credentials. */
  isGeneral?: boolean;
  /** Whether it did not end in time. */
  isTimeout?: boolean;
}

/** What the model did, or why that is not known. */
export type Observation =
  & { durationMs: number; cost: RunCost }
  & (RunProblem & { status: "error" } | {
    status: "ok";
    /** Tools it called, by flat name, in order. */
    calls: ChosenCall[];
    /** The text around its calls. */
    reasoning: string;
    /** Where the model has to find the target first. */
    search?: SearchTrace | undefined;
    model?: string | undefined;
  });

/** The program that runs are made with. */
export const EvaluatorProgram = z.object({
  path: z.string(),
  version: z.string().describe("The version it reports; empty if it reports none"),
});
export type EvaluatorProgram = z.infer<typeof EvaluatorProgram>;

/** Puts a prompt to a model and sees which tools it calls; never runs a tool. */
export interface Evaluator {
  readonly kind: EvaluatorKind;
  readonly model: string;
  /** False where it never says what a run costs. */
  readonly isPriced?: boolean;
  /** What tokens cost, where the price table says. */
  readonly price?: ModelPrice | undefined;
  /** What the last check found, where runs are made by a program. */
  readonly program?: EvaluatorProgram | undefined;
  /** Throws CANNOT_EVALUATE if no run could succeed. Asks no model, which may still refuse. */
  check(): Promise<void>;
  /** Never throws but for an aborted signal; tries once. */
  run(request: RunRequest): Promise<Observation>;
}

export interface TrialResult {
  at: number;
  outcome: "right" | "wrong" | "failed";
  /** What the model did, or why nothing came of it, with what to do. */
  words: string;
  model: string;
  durationMs: number;
  cost: RunCost;
}

interface EvaluatorTrialOptions {
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
  last: TrialResult | undefined;

  constructor(options: EvaluatorTrialOptions) {
    this.#options = options;
  }

  /** Spends model time. Throws OPTIMIZATION_DISABLED, CANNOT_EVALUATE or OPERATION_IN_PROGRESS. */
  async run(signal: AbortSignal): Promise<TrialResult> {
    const { evaluator: find, isEnabled, now = Date.now } = this.#options;
    if (!isEnabled()) {
      throw new GatewayError("OPTIMIZATION_DISABLED", {
        message:
          "Cannot test the evaluator: optimization is off, and the test is a real model call",
        recoveryAction: "Switch optimization on, then run the test again",
      });
    }
    if (this.#isRunning) {
      throw new GatewayError("OPERATION_IN_PROGRESS", {
        message: "Cannot test the evaluator: a test is running",
        recoveryAction: "Wait for it to finish, then check its result",
      });
    }
    this.#isRunning = true;
    try {
      const evaluator = await find();
      const seen = await evaluator.run({ prompt: PROMPT, tools: TOOLS, target: TARGET, signal });
      return this.last = {
        at: now(),
        ...trialOutcome(seen),
        model: seen.status === "ok" ? seen.model ?? evaluator.model : evaluator.model,
        durationMs: seen.durationMs,
        cost: seen.cost,
      };
    } finally {
      this.#isRunning = false;
    }
  }
}

function trialOutcome(seen: Observation): Pick<TrialResult, "outcome" | "words"> {
  if (seen.status === "error") {
    const advice = seen.isLasting
      ? "Fix this first: every evaluation would fail the same way"
      : "This may be temporary: run the test again";
    return { outcome: "failed", words: `${seen.reason.replace(/[.\s]+$/, "")}. ${advice}` };
  }
  const [first] = seen.calls;
  if (first?.name === TARGET) {
    const words = `For the prompt "${PROMPT}", the model chose the right one of two tools`;
    return { outcome: "right", words };
  }
  const did = first === undefined ? "called no tool" : `called ${first.name}`;
  return {
    outcome: "wrong",
    words: `The model responds, but for the prompt "${PROMPT}" it ${did} instead of ${TARGET}. ` +
      "Choose a more capable model with --eval-model",
  };
}

const CUT_OFF = ["max_tokens", "model_context_window_exceeded", "pause_turn"];

/** Whether the model was stopped before it finished, so its choice is unknown. */
export function isCutOff(stopReason: string | null | undefined): boolean {
  return CUT_OFF.includes(stopReason ?? "");
}

export const MAX_REASONING = 4_000;

/** What the Messages API and the claude CLI have in common. */
export const ContentBlock = z.looseObject({ type: z.string() });
type ContentBlock = z.infer<typeof ContentBlock>;
const TextBlock = z.looseObject({ type: z.literal("text"), text: z.string() });
const ToolUseBlock = z.looseObject({
  type: z.literal("tool_use"),
  name: z.string(),
  input: z.unknown().optional(),
});
export const Usage = z.looseObject({
  input_tokens: z.number().default(0),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  output_tokens: z.number().default(0),
});

export function textsIn(content: readonly ContentBlock[]): string[] {
  return content.flatMap((block) => TextBlock.safeParse(block).data?.text ?? []);
}

export function callsIn(content: readonly ContentBlock[]): ChosenCall[] {
  return content.flatMap((block) => {
    const { data } = ToolUseBlock.safeParse(block);
    return data === undefined ? [] : [{ name: data.name, arguments: data.input ?? {} }];
  });
}

export function tokensIn(usage: z.infer<typeof Usage> | undefined) {
  return {
    inputTokens: (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) +
      (usage?.cache_read_input_tokens ?? 0),
    outputTokens: usage?.output_tokens ?? 0,
  };
}
