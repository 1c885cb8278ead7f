import type { Platform } from "./config/deployment.ts";
import { type Env, nonEmpty } from "./config/env.ts";
import type { Options } from "./config/option_table.ts";
import { GatewayError } from "./core/errors.ts";
import type { ProcessOwner } from "./downstream/stdio/process_owner.ts";
import type { Evaluator, EvaluatorProgram } from "./optimizer/evaluator.ts";
import {
  ClaudeCliEvaluator,
  type ClaudeCliOptions,
  ClaudeCliText,
} from "./optimizer/models/claude_cli.ts";
import { passedVariables } from "./optimizer/models/claude_env.ts";
import { MessagesApiEvaluator, MessagesApiText } from "./optimizer/models/messages_api.ts";
import type { RunFolders } from "./optimizer/models/run_folders.ts";
import { Slots } from "./optimizer/slots.ts";
import type { TextModel } from "./optimizer/text_model.ts";
import type { EvaluatorInfo } from "./surfaces/optimization/admin_options.ts";
import type { Redactor } from "./telemetry/redact.ts";

const CLI_MODEL = "sonnet";
const API_MODEL = "claude-sonnet-4-5";
const API_URL = "https://api.anthropic.com";
/** How long it is believed that a program is there, or is not. */
const CHECK_EVERY_MS = 30_000;

export interface ComposeModelsInput {
  options: Pick<
    Options,
    "evaluator" | "claudePath" | "evalModel" | "evalTimeout" | "evalConcurrency"
  >;
  env: Env;
  platform: Pick<Platform, "canSpawn">;
  redactor: Redactor;
  processOwner: ProcessOwner;
  folders: RunFolders;
  openDoor: ClaudeCliOptions["openDoor"];
  isEnabled(): boolean;
}

/** The models that judge and write; all of it together asks no more at once than is allowed. */
export function composeModels(input: ComposeModelsInput) {
  const { options, env, platform, isEnabled } = input;
  const slots = new Slots(options.evalConcurrency);
  const apiKey = nonEmpty(env, "ANTHROPIC_API_KEY");
  const authToken = nonEmpty(env, "ANTHROPIC_AUTH_TOKEN");
  const oauthToken = nonEmpty(env, "CLAUDE_CODE_OAUTH_TOKEN");
  input.redactor.learn([apiKey, authToken, oauthToken].filter((key) => key !== undefined));
  const cliOptions = {
    path: options.claudePath,
    model: options.evalModel ?? CLI_MODEL,
    timeoutMs: options.evalTimeout,
    env: platform.canSpawn ? env.toObject?.() ?? passedVariables((name) => env.get(name)) : {},
    owner: input.processOwner,
    folders: input.folders,
  };
  const apiOptions = {
    baseUrl: nonEmpty(env, "ANTHROPIC_BASE_URL") ?? API_URL,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(authToken === undefined ? {} : { authToken }),
    model: options.evalModel ?? API_MODEL,
    timeoutMs: options.evalTimeout,
  };
  const cli = new ClaudeCliEvaluator({ ...cliOptions, openDoor: input.openDoor });
  const api = new MessagesApiEvaluator(apiOptions);
  const isApiWanted = options.evaluator === "messages-api" ||
    (options.evaluator === "auto" && !platform.canSpawn);

  async function choose(): Promise<Evaluator> {
    if (isApiWanted) {
      await api.check();
      return api;
    }
    if (!platform.canSpawn) {
      throw new GatewayError("CANNOT_EVALUATE", {
        message: "Cannot evaluate: programs cannot be started on this platform",
        recoverySteps: ["Use --evaluator messages-api, with ANTHROPIC_API_KEY set"],
      });
    }
    try {
      await cli.check();
      return cli;
    } catch (error) {
      // A key is enough for the other way.
      if (options.evaluator !== "auto") throw error;
      if ((apiKey ?? authToken) === undefined) throw withKeyAsAWay(error);
      await api.check();
      return api;
    }
  }

  let chosen: { at: number; evaluator: Promise<Evaluator> } | undefined;
  /** One that was looked for a moment ago is not looked for again. */
  function checked(): Promise<Evaluator> {
    const now = Date.now();
    if (!chosen || now - chosen.at > CHECK_EVERY_MS) chosen = { at: now, evaluator: choose() };
    const { evaluator } = chosen;
    evaluator.catch(() => chosen = undefined);
    return evaluator;
  }

  /** While it is off no program is started, not even to look: the one that would be used, as it is. */
  async function evaluator(): Promise<Evaluator> {
    const found: Evaluator = isEnabled() ? await checked() : isApiWanted ? api : cli;
    const { isPriced = true } = found;
    return { ...slots.evaluator(found), isPriced, check: async () => void await checked() };
  }

  async function textModel(): Promise<TextModel> {
    try {
      const { kind } = await checked();
      return slots.textModel(
        kind === "claude-cli" ? new ClaudeCliText(cliOptions) : new MessagesApiText(apiOptions),
      );
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "CANNOT_EVALUATE") throw error;
      throw new GatewayError("CANNOT_GENERATE", {
        ...error.details,
        message: error.message.replace(/^Cannot evaluate/, "Cannot generate"),
        recoveryAction: "Make a model available to the gateway, or write the texts yourself",
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
      return { ...none, problem: error instanceof Error ? error.message : String(error) };
    }
  }

  /** What runs would be made with; looked for while it is on alone. */
  async function evaluatorProgram(): Promise<EvaluatorProgram | undefined> {
    return isEnabled() ? (await checked()).program : undefined;
  }

  return { evaluator, textModel, evaluatorInfo, evaluatorProgram };
}

/** Where nothing was said about how to evaluate, a key would do as well as the program. */
function withKeyAsAWay(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  const steps = error.details.recoverySteps ?? [];
  return new GatewayError(error.code, {
    ...error.details,
    message: error.message,
    recoverySteps: [...steps, "Or set ANTHROPIC_API_KEY and start the gateway again"],
    cause: error,
  });
}
