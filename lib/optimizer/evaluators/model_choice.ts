import { type Env, nonEmpty, type Platform } from "../../config/platform.ts";
import type { Options } from "../../config/option_table.ts";
import { defined } from "../../core/defined.ts";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import type { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { DEFAULT_MODELS, type EvaluatorInfo, parseModelRef } from "../../core/optimization.ts";
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
  const built = modelBuilder(input, { apiKey, authToken, openaiKey });
  const isOpenai = options.evaluator === "openai-api";
  const cli = built("claude-cli", options.evalModel);
  const api = built(isOpenai ? "openai-api" : "messages-api", options.evalModel);
  const isApiWanted = isOpenai || options.evaluator === "messages-api" ||
    (options.evaluator === "auto" && !platform.canSpawn);

  /** The one that is set, or for `auto` the first that can work. */
  async function choose(): Promise<BuiltModel> {
    if (isApiWanted) {
      await api.evaluator.check();
      return api;
    }
    if (!platform.canSpawn) throw cannotSpawn();
    try {
      await cli.evaluator.check();
      return cli;
    } catch (error) {
      // A key is enough for the Messages API.
      if (options.evaluator !== "auto") throw error;
      if ((apiKey ?? authToken) === undefined) throw withKeyHint(error);
      await api.evaluator.check();
      return api;
    }
  }

  const models = new Map<string, BuiltModel>();
  function named(ref: string): BuiltModel {
    const { kind, model } = parseModelRef(ref);
    if (kind === "caller") throw new RangeError(`"${ref}" cannot be asked`);
    const found = models.get(ref) ?? built(kind, model);
    models.set(ref, found);
    return found;
  }

  async function checkedNamed(ref: string): Promise<BuiltModel> {
    const found = named(ref);
    if (found.evaluator.kind === "claude-cli" && !platform.canSpawn) throw cannotSpawn();
    await found.evaluator.check();
    return found;
  }

  const chosen = new Map<string, { at: number; model: Promise<BuiltModel> }>();
  function checked(ref?: string): Promise<BuiltModel> {
    const now = Date.now();
    const key = ref ?? "";
    const last = chosen.get(key);
    if (last && now - last.at <= CHECK_EVERY_MS) return last.model;
    const model = ref === undefined ? choose() : checkedNamed(ref);
    chosen.set(key, { at: now, model });
    model.catch(() => chosen.delete(key));
    return model;
  }

  /**
   * Of a model such as `openai-api:gpt-5-mini`, or the one that is set. While optimization is off,
   * starts no program: returns the evaluator that would be used.
   */
  async function evaluator(ref?: string): Promise<Evaluator> {
    const unchecked = ref === undefined ? isApiWanted ? api : cli : named(ref);
    // A model that is named is known without a check, which the job makes before it starts.
    const { evaluator: found } = isEnabled() && ref === undefined ? await checked() : unchecked;
    const { isPriced = true } = found;
    return { ...slots.evaluator(found), isPriced, check: async () => void await checked(ref) };
  }

  async function textModel(ref?: string): Promise<TextModel> {
    try {
      return slots.textModel((await checked(ref)).text());
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
      const { kind, model } = (await checked()).evaluator;
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
  const evaluatorProgram = async () =>
    isEnabled() ? (await checked()).evaluator.program : undefined;

  const cliModel = options.evalModel ?? DEFAULT_MODELS["claude-cli"] ?? "";
  const claude = { ...cliOptions(input, cliModel), check: () => cli.evaluator.check() };
  return { evaluator, textModel, evaluatorInfo, evaluatorProgram, claude };
}

type Keys = Record<"apiKey" | "authToken" | "openaiKey", string | undefined>;

/** Builds what asks a model, and what has it write. */
function modelBuilder(input: ModelsInput, { apiKey, authToken, openaiKey }: Keys) {
  const { options, env } = input;
  return function built(kind: ApiKind | "claude-cli", model: string | undefined): BuiltModel {
    const name = model ?? DEFAULT_MODELS[kind] ?? "";
    const price = priceOf(name, options.modelPrices);
    if (kind === "claude-cli") {
      const cli = { ...cliOptions(input, name), ...defined({ price }) };
      return {
        evaluator: claudeCliEvaluator({ ...cli, openEndpoint: input.openEndpoint }),
        text: () => claudeCliText(cli),
      };
    }
    const api: MessagesApiOptions = kind === "openai-api"
      ? {
        dialect: CHAT_COMPLETIONS,
        baseUrl: nonEmpty(env, "OPENAI_BASE_URL") ?? OPENAI_URL,
        ...defined({ apiKey: openaiKey }),
        model: name,
        timeoutMs: options.evalTimeout,
      }
      : {
        baseUrl: nonEmpty(env, "ANTHROPIC_BASE_URL") ?? API_URL,
        ...defined({ apiKey, authToken }),
        model: name,
        timeoutMs: options.evalTimeout,
      };
    return {
      evaluator: withPrice(messagesApiEvaluator(api), price),
      text: () => textWithPrice(messagesApiText(api), price),
    };
  };
}

function cliOptions({ options, env, platform, ...input }: ModelsInput, model: string) {
  return {
    path: options.claudePath,
    model,
    timeoutMs: options.evalTimeout,
    env: platform.canSpawn ? env.toObject?.() ?? passedVariables((name) => env.get(name)) : {},
    owner: input.processOwner,
    folders: input.folders,
  };
}

interface BuiltModel {
  evaluator: Evaluator;
  text(): TextModel;
}

type ApiKind = "messages-api" | "openai-api";

function cannotSpawn(): GatewayError {
  return new GatewayError("CANNOT_EVALUATE", {
    message: "Cannot evaluate: this platform cannot run programs",
    recoverySteps: ["Use --evaluator messages-api, with ANTHROPIC_API_KEY set"],
  });
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
