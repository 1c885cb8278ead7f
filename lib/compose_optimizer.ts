import type { Catalog } from "./catalog/catalog.ts";
import type { Platform } from "./config/deployment.ts";
import { type Env, nonEmpty } from "./config/env.ts";
import type { Options } from "./config/option_table.ts";
import { GatewayError } from "./core/errors.ts";
import type { EvaluatorKind, OptimizationJob } from "./core/optimization.ts";
import { EVERYONE } from "./core/principal.ts";
import { TimeoutQueue } from "./core/timeout_queue.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import type { ProcessOwner } from "./downstream/stdio/process_owner.ts";
import { EvalDoors } from "./http/eval_doors.ts";
import { CatalogSubjects } from "./optimizer/catalog_subjects.ts";
import type { Evaluator } from "./optimizer/evaluator.ts";
import { OptimizationJobs } from "./optimizer/jobs.ts";
import { ClaudeCliEvaluator, ClaudeCliText } from "./optimizer/models/claude_cli.ts";
import { MessagesApiEvaluator, MessagesApiText } from "./optimizer/models/messages_api.ts";
import type { Promotions } from "./optimizer/promotions.ts";
import type { TextModel } from "./optimizer/text_model.ts";
import type { NameTables } from "./routing/name_table.ts";
import { CandidatesRepository } from "./storage/candidates_repository.ts";
import { EvalRunsRepository } from "./storage/eval_runs_repository.ts";
import { EvaluationsRepository } from "./storage/evaluations_repository.ts";
import { GoldenPromptsRepository } from "./storage/golden_prompts_repository.ts";
import { JobsRepository } from "./storage/optimization_jobs_repository.ts";
import type { Store } from "./storage/store.ts";
import { OptimizationAdmin } from "./surfaces/optimization_admin.ts";
import { optimizationTools } from "./surfaces/optimization_tools.ts";
import type { Logs } from "./telemetry/logs.ts";
import type { Toolsets } from "./toolsets/toolsets.ts";

const CLI_MODEL = "sonnet";
const API_MODEL = "claude-sonnet-4-5";
const API_URL = "https://api.anthropic.com";
const PATIENCE_MS = 50;
const DAY_MS = 24 * 60 * 60_000;
const MOST_RUNS = 200_000;
/** How long it is believed that a program is there, or is not. */
const CHECK_EVERY_MS = 30_000;

export interface ComposeOptimizerInput {
  store: Store;
  catalog: Catalog;
  pool: ServerPool;
  names: NameTables;
  toolsets: Toolsets;
  options: Options;
  env: Env;
  platform: Platform;
  logs: Logs;
  promotions: Promotions;
  processOwner: ProcessOwner;
  leaseId: string;
  isLeaseAlive(id: string): Promise<boolean>;
  isEnabled(): boolean;
  setEnabled(on: boolean): Promise<void>;
  onJob(job: OptimizationJob): void;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
}

export type Optimizer = ReturnType<typeof composeOptimizer>;

/** Everything that measures descriptions and writes others. */
export function composeOptimizer(input: ComposeOptimizerInput) {
  const { store, catalog, pool, toolsets, options, logs, promotions, platform } = input;
  const stack = new AsyncDisposableStack();
  const patience = stack.use(new TimeoutQueue(PATIENCE_MS));
  const doors = stack.use(new EvalDoors({ log: logs.room("http"), patience }));
  const subjects = new CatalogSubjects({
    catalog,
    names: input.names,
    equipped() {
      const toolset = toolsets.equippedBy(EVERYONE);
      return toolset ? toolsets.registered(toolset) : [];
    },
  });

  const apiKey = nonEmpty(input.env, "ANTHROPIC_API_KEY");
  const authToken = nonEmpty(input.env, "ANTHROPIC_AUTH_TOKEN");
  const oauthToken = nonEmpty(input.env, "CLAUDE_CODE_OAUTH_TOKEN");
  logs.redactor.learn([apiKey, authToken, oauthToken].filter((key) => key !== undefined));
  const cliOptions = {
    path: options.claudePath,
    model: options.evalModel ?? CLI_MODEL,
    timeoutMs: options.evalTimeout,
    env: platform.canSpawn ? Deno.env.toObject() : {},
    owner: input.processOwner,
  };
  const apiOptions = {
    baseUrl: nonEmpty(input.env, "ANTHROPIC_BASE_URL") ?? API_URL,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(authToken === undefined ? {} : { authToken }),
    model: options.evalModel ?? API_MODEL,
    timeoutMs: options.evalTimeout,
  };
  const cli = new ClaudeCliEvaluator({
    ...cliOptions,
    openDoor: (tools) => Promise.resolve(doors.open(tools)),
  });
  const api = new MessagesApiEvaluator(apiOptions);

  async function choose(): Promise<Evaluator> {
    const wanted = options.evaluator;
    if (wanted === "messages-api" || (wanted === "auto" && !platform.canSpawn)) {
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
      if (wanted !== "auto" || (apiKey ?? authToken) === undefined) throw error;
      await api.check();
      return api;
    }
  }

  let chosen: { at: number; evaluator: Promise<Evaluator> } | undefined;
  function evaluator(): Promise<Evaluator> {
    const now = Date.now();
    if (!chosen || now - chosen.at > CHECK_EVERY_MS) chosen = { at: now, evaluator: choose() };
    const { evaluator } = chosen;
    evaluator.catch(() => chosen = undefined);
    return evaluator;
  }

  async function textModel(): Promise<TextModel> {
    try {
      const { kind } = await evaluator();
      return kind === "claude-cli"
        ? new ClaudeCliText(cliOptions)
        : new MessagesApiText(apiOptions);
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

  async function evaluatorInfo() {
    try {
      const { kind, model } = await evaluator();
      return { kind, model, problem: null };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { kind: null as EvaluatorKind | null, model: null, problem };
    }
  }

  const candidates = new CandidatesRepository(store);
  const prompts = new GoldenPromptsRepository(store);
  const runs = new EvalRunsRepository(store);
  const evaluations = new EvaluationsRepository(store);
  const jobs = stack.use(
    new OptimizationJobs({
      jobs: new JobsRepository(store),
      candidates,
      prompts,
      runs,
      evaluations,
      promotions,
      subjects,
      evaluator,
      textModel,
      concurrency: options.evalConcurrency,
      owner: input.leaseId,
      isOwnerAlive: (owner) => input.isLeaseAlive(owner),
      isEnabled: input.isEnabled,
      onChange: input.onJob,
      onWarning: input.onWarning,
      signal: input.signal,
    }),
  );
  const admin = new OptimizationAdmin({
    candidates,
    prompts,
    runs,
    evaluations,
    promotions,
    jobs,
    subjects,
    textModel,
    isEnabled: input.isEnabled,
    setEnabled: input.setEnabled,
    evaluatorInfo,
    canonicalTools(server) {
      pool.resolve(server);
      return catalog.of(server).tools.flatMap(({ name, definition: { inputSchema } }) => {
        const subject = subjects.find(server, name);
        return subject ? { name, description: subject.canonicalDescription, inputSchema } : [];
      });
    },
  });

  const pruning = runs.prune({ olderThanMs: options.evalRetention * DAY_MS, most: MOST_RUNS })
    .catch((error) => input.onWarning("Cannot clear away old evaluation runs", { error }));
  stack.defer(async () => void await pruning);
  const tools = optimizationTools(admin);
  return { admin, jobs, tools, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
