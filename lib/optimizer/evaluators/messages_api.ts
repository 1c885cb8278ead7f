import { GatewayError } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import { ToolDefinition } from "../../core/tool.ts";
import {
  type Evaluator,
  isCutOff,
  type Observation,
  type RunRequest,
  type ShownTool,
} from "./evaluator.ts";
import type { TextAnswer, TextModel, TextRequest } from "../generation/text_model.ts";
import {
  MessagesApiFailure,
  type MessagesApiOptions,
  messagesUrl,
  type ModelMessage,
  requestMessage,
  shownUrl,
} from "./messages_request.ts";

/** Room for a sentence and the arguments of a few calls. */
const RUN_TOKENS = 4_096;
const MAX_REASONING = 4_000;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** Prompt and tools in one request to any Anthropic-compatible API: no process, no second turn. */
export class MessagesApiEvaluator implements Evaluator {
  readonly kind = "messages-api";
  /** The API counts tokens and says no price. */
  readonly isPriced = false;
  readonly #options: MessagesApiOptions;

  constructor(options: MessagesApiOptions) {
    this.#options = options;
  }

  get model(): string {
    return this.#options.model;
  }

  // Without asking the API, which would spend model time. `checkedWords()` says so.
  // deno-lint-ignore require-await
  async check(): Promise<void> {
    const problem = setupProblem(this.#options);
    if (problem === undefined) return;
    throw new GatewayError("CANNOT_EVALUATE", {
      message: `Cannot evaluate: ${problem.words}`,
      recoveryAction: problem.action,
      recoverySteps: [
        problem.action,
        "Or run the prompts yourself and report each result",
      ],
      suggestedTools: ["record_eval_run"],
    });
  }

  async run({ prompt, tools, target, signal }: RunRequest): Promise<Observation> {
    const started = performance.now();
    const failed = (
      problem: { reason: string; isLasting: boolean; isGeneral?: boolean },
      message?: ModelMessage,
    ): Observation => ({
      ...problem,
      status: "error",
      durationMs: Math.round(performance.now() - started),
      cost: message?.cost ?? { inputTokens: 0, outputTokens: 0 },
    });
    signal.throwIfAborted();
    try {
      const offered = tools.map(apiTool);
      if (!offered.some(({ name }) => name === target)) {
        const reason = `The tool "${target}" is not among those that are shown`;
        return failed({ reason, isLasting: true });
      }
      const message = await requestMessage(this.#options, {
        max_tokens: RUN_TOKENS,
        messages: [{ role: "user", content: prompt }],
        tools: offered,
        tool_choice: { type: "auto" },
      }, signal);
      const problem = answerProblem(message);
      if (problem !== undefined) return failed({ reason: problem, isLasting: false }, message);
      const { calls, text, cost, model } = message;
      const reasoning = shortened(text, MAX_REASONING);
      const durationMs = Math.round(performance.now() - started);
      return { status: "ok", calls, reasoning, durationMs, cost, model };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MessagesApiFailure) {
        const { message, isLasting, isGeneral } = error;
        return failed({ reason: message, isLasting, isGeneral });
      }
      const words = error instanceof Error ? error.message : String(error);
      return failed({ reason: `The run could not be made: ${words}`, isLasting: false });
    }
  }
}

/** Writes by one request. */
export class MessagesApiText implements TextModel {
  readonly kind = "messages-api";
  readonly #options: MessagesApiOptions;

  constructor(options: MessagesApiOptions) {
    this.#options = options;
  }

  async complete({ system, prompt, maxTokens, signal }: TextRequest): Promise<TextAnswer> {
    const problem = setupProblem(this.#options);
    if (problem) throw cannotGenerate(problem.words, problem.action);
    let message: ModelMessage;
    try {
      message = await requestMessage(this.#options, {
        max_tokens: maxTokens,
        system,
        messages: [{ role: "user", content: prompt }],
      }, signal);
    } catch (error) {
      if (!(error instanceof MessagesApiFailure)) throw error;
      throw cannotGenerate(error.message);
    }
    const { text, cost, stopReason = "" } = message;
    if (isCutOff(stopReason)) {
      throw cannotGenerate(`The model's answer was cut off at ${maxTokens} tokens`);
    }
    if (stopReason === "refusal") throw cannotGenerate("The model refused to answer");
    if (text.trim() === "") throw cannotGenerate("The model's answer is empty");
    return { text, cost };
  }
}

/** Why an answer is not a choice between tools. */
function answerProblem({ calls, stopReason = "", text }: ModelMessage): string | undefined {
  if (stopReason === "refusal") {
    return `The model refused to answer, which is not a choice between tools: ${
      text.slice(0, 200)
    }`;
  }
  if (calls.length > 0 || !isCutOff(stopReason)) return undefined;
  return `The model's answer was cut off before it called a tool (${stopReason})`;
}

function apiTool({ name, text }: ShownTool) {
  if (!NAME.test(name)) {
    throw new MessagesApiFailure(`The model API does not take "${name}" as a tool's name`, true);
  }
  const { description, inputSchema } = ToolDefinition.parse(JSON.parse(text));
  return { name, ...description === undefined ? {} : { description }, input_schema: inputSchema };
}

/** Why no request could succeed, known without making one. */
function setupProblem(
  { baseUrl, apiKey, authToken }: MessagesApiOptions,
): { words: string; action: string } | undefined {
  const url = messagesUrl(baseUrl);
  if (url === undefined) {
    return {
      words: `"${shownUrl(baseUrl)}" is not the URL of a model API`,
      action: "Set ANTHROPIC_BASE_URL to an http or https address",
    };
  }
  // Others, such as one on the same machine, may want none.
  const isAnthropic = url.hostname === "anthropic.com" || url.hostname.endsWith(".anthropic.com");
  if (!isAnthropic || apiKey !== undefined || authToken !== undefined) return undefined;
  return {
    words: "the model API needs a key, and there is none",
    action: "Set ANTHROPIC_API_KEY in the gateway's environment",
  };
}

function cannotGenerate(words: string, recoveryAction?: string): GatewayError {
  return new GatewayError("CANNOT_GENERATE", {
    message: `Cannot generate: ${words}`,
    ...recoveryAction === undefined ? {} : { recoveryAction },
  });
}
