import { type Env, nonEmpty, type Platform } from "../../config/platform.ts";
import type { Options } from "../../config/option_table.ts";
import { defined } from "../../core/defined.ts";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import type { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { DEFAULT_MODELS, type EvaluatorInfo } from "../../core/optimization.ts";
import type { Evaluator } from "./evaluator.ts";
import { claudeCliEvaluator, type ClaudeCliOptions, claudeCliText } from "./claude_cli.ts";
import { passedVariables, type RunFolders } from "./claude_environment.ts";
import { messagesApiEvaluator, type MessagesApiOptions, messagesApiText } from "./messages_api.ts";
import { CHAT_COMPLETIONS, OPENAI_URL } from "./openai_api.ts";
import { priceOf, textWithPrice, withPrice } from "./prices.ts";
import { ModelQueue } from "../jobs/concurrency.ts";
import type { TextModel } from "../generation/text_model.ts";
import type { Redactor } from "../../telemetry/redact.ts";

const API_URL = "https://api.anthropic.com";
const CHECK_EVERY_MS = 30_000;

export interface ModelsInput {
  options: Pick<
    Options,
    | "evaluator"
    | "claudePath"
    | "evalModel"
    | "evalTimeout"
    | "evalConcurrency"
    | "modelPrices"
  >;
  env: Env;
  platform: Pick<Platform, "canSpawn">;
  redactor: Redactor;
  processOwner: ProcessOwner;
  folders: RunFolders;
  openEndpoint: ClaudeCliOptions["openEndpoint"];
  isEnabled(): boolean;
}

export type Models = ReturnType<typeof buildModels>;

/** The models that evaluate and write; together they make at most the allowed number of requests. */
export function buildModels(input: ModelsInput) {
  const { options, env, platform, isEnabled } = input;
  const slots = new ModelQueue(options.evalConcurrency);
  const apiKey = nonEmpty(env, "ANTHROPIC_API_KEY");
  const authToken = nonEmpty(env, "ANTHROPIC_AUTH_TOKEN");
  const oauthToken = nonEmpty(env, "CLAUDE_CODE_OAUTH_TOKEN");
  const openaiKey = nonEmpty(env, "OPENAI_API_KEY");
  input.redactor.learn(
    [apiKey, authToken, oauthToken, openaiKey].filter((key) => key !== undefined),
  );
  const cliOptions = {
    path: options.claudePath,
    model: options.evalModel ?? DEFAULT_MODELS["claude-cli"] ?? "",
    timeoutMs: options.evalTimeout,
    env: platform.canSpawn ? env.toObject?.() ?? passedVariables((name) => env.get(name)) : {},
    owner: input.processOwner,
    folders: input.folders,
  };
  const isOpenai = options.evaluator === "openai-api";
  const apiOptions: MessagesApiOptions = isOpenai
    ? {
      dialect: CHAT_COMPLETIONS,
      baseUrl: nonEmpty(env, "OPENAI_BASE_URL") ?? OPENAI_URL,
      ...defined({ apiKey: openaiKey }),
      model: options.evalModel ?? "",
      timeoutMs: options.evalTimeout,
    }
    : {
      baseUrl: nonEmpty(env, "ANTHROPIC_BASE_URL") ?? API_URL,
      ...defined({ apiKey, authToken }),
      model: options.evalModel ?? DEFAULT_MODELS["messages-api"] ?? "",
      timeoutMs: options.evalTimeout,
    };
  const price = priceOf(apiOptions.model, options.modelPrices);
  const cli = claudeCliEvaluator({ ...cliOptions, openEndpoint: input.openEndpoint });
  const api = withPrice(messagesApiEvaluator(apiOptions), price);
  const isApiWanted = isOpenai || options.evaluator === "messages-api" ||
    (options.evaluator === "auto" && !platform.canSpawn);

  async function choose(): Promise<Evaluator> {
    if (isApiWanted) {
      await api.check();
      return api;
    }
    if (!platform.canSpawn) {
      throw new GatewayError("CANNOT_EVALUATE", {
        message: "Cannot evaluate: this platform cannot run programs",
        recoverySteps: ["Use --evaluator messages-api, with ANTHROPIC_API_KEY set"],
      });
    }
    try {
      await cli.check();
      return cli;
    } catch (error) {
      // A key is enough for the Messages API.
      if (options.evaluator !== "auto") throw error;
      if ((apiKey ?? authToken) === undefined) throw withKeyHint(error);
      await api.check();
      return api;
    }
  }

  let chosen: { at: number; evaluator: Promise<Evaluator> } | undefined;
  function checked(): Promise<Evaluator> {
    const now = Date.now();
    if (!chosen || now - chosen.at > CHECK_EVERY_MS) chosen = { at: now, evaluator: choose() };
    const { evaluator } = chosen;
    evaluator.catch(() => chosen = undefined);
    return evaluator;
  }

  /** While optimization is off, starts no program: returns the evaluator that would be used. */
  async function evaluator(): Promise<Evaluator> {
    const found = isEnabled() ? await checked() : isApiWanted ? api : cli;
    const { isPriced = true } = found;
    return { ...slots.evaluator(found), isPriced, check: async () => void await checked() };
  }

  async function textModel(): Promise<TextModel> {
    try {
      const { kind } = await checked();
      return slots.textModel(
        kind === "claude-cli"
          ? claudeCliText(cliOptions)
          : textWithPrice(messagesApiText(apiOptions), price),
      );
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "CANNOT_EVALUATE") throw error;
      throw new GatewayError("CANNOT_GENERATE", {
        ...error.details,
        message: error.message.replace(/^Cannot evaluate/, "Cannot generate"),
        recoveryAction:
          "Give the gateway access to a model, or write the prompts and descriptions yourself",
        cause: error,
      });
    }
  }

  async function evaluatorInfo(): Promise<EvaluatorInfo> {
    const none = { kind: null, model: null };
    if (!isEnabled()) return { ...none, problem: "Cannot evaluate: optimization is off" };
    try {
      const { kind, model } = await checked();
      return { kind, model, problem: null };
    } catch (error) {
      // Pages show only this text, so it must include what to do.
      const steps = error instanceof GatewayError ? error.details.recoverySteps ?? [] : [];
      const message = errorMessage(error);
      const further = steps.filter((step) => !message.includes(step));
      return { ...none, problem: [message, ...further].join(". ") };
    }
  }

  /** The program that evaluates; looked for only while optimization is on. */
  const evaluatorProgram = async () => isEnabled() ? (await checked()).program : undefined;

  return { evaluator, textModel, evaluatorInfo, evaluatorProgram };
}

/** Without a configured evaluator, an API key works as well as the program. */
function withKeyHint(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  const steps = error.details.recoverySteps ?? [];
  return new GatewayError(error.code, {
    ...error.details,
    message: error.message,
    recoverySteps: [...steps, "Or set ANTHROPIC_API_KEY and restart the gateway"],
    cause: error,
  });
}
