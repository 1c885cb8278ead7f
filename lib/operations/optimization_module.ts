import { resolveTool } from "../catalog/resolve.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { buildModels } from "../optimizer/evaluators/model_choice.ts";
import type { Env, Platform } from "../config/platform.ts";
import type { Options } from "../config/option_table.ts";
import { EVERYONE, type OnAudit } from "../core/access.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { keepUp, TimeoutQueue } from "../core/async.ts";
import type { ServerPool } from "../servers/pool.ts";
import type { ProcessOwner } from "../servers/processes/process_owner.ts";
import { buildSearches } from "../catalog/search/module.ts";
import type { ToolMetadataBook } from "../catalog/tool_metadata.ts";
import { EvalDiscovery } from "../mcp/eval_discovery.ts";
import type { ToolDirectory } from "../mcp/tool_directory.ts";
import { EvalEndpoints } from "../mcp/eval_endpoint.ts";
import { catalogTargets } from "../optimizer/targets.ts";
import { YEAR_MS } from "../optimizer/evaluation/evidence.ts";
import { EvaluatorTrial } from "../optimizer/evaluators/evaluator.ts";
import { OptimizationJobs } from "../optimizer/jobs/queue.ts";
import { runFolders } from "../optimizer/evaluators/claude_environment.ts";
import type { OptimizerSwitch } from "../optimizer/module.ts";
import type { KeptLease } from "../storage/leases_repository.ts";
import type { NameTables } from "../catalog/name_table.ts";
import {
  CandidatesRepository,
  EvalRunsRepository,
  EvaluationsRepository,
  GoldenPromptsRepository,
} from "../storage/optimization_repositories.ts";
import type { Location } from "../storage/kv_client.ts";
import { JobsRepository } from "../storage/jobs_repository.ts";
import type { Store } from "../storage/store.ts";
import { buildComparisons, type ComparisonsWorld } from "./comparison_admin.ts";
import { EvaluatorCheck } from "./optimization/evaluator.ts";
import { OptimizationAdmin } from "./optimization_admin.ts";
import type { Logs } from "../telemetry/logs.ts";
import type { Toolsets } from "../catalog/toolsets/toolsets.ts";

const PATIENCE_MS = 50;
const DAY_MS = 24 * 60 * 60_000;
const MOST_RUNS = 200_000;
const MOST_ENDED_JOBS = 500;
const MOST_EVALUATIONS = 50;

interface OptimizationInput extends Omit<ComparisonsWorld, "claude" | "folders"> {
  store: Store;
  catalog: Catalog;
  pool: ServerPool;
  names: NameTables;
  toolsets: Toolsets;
  toolDirectory: ToolDirectory;
  metadata: ToolMetadataBook;
  options: Options;
  env: Env;
  platform: Platform;
  logs: Logs;
  optimizer: OptimizerSwitch;
  processOwner: ProcessOwner;
  lease: Pick<KeptLease, "id" | "isAlive">;
  /** Built for one command: nothing is cleared away. */
  isCommand?: boolean;
  mayPromote(principal: string): boolean;
  live: { tellJob(job: OptimizationJob): void };
  /** Candidates, prompts, reports or promotions were changed here. */
  optimizationChanged(): void;
  onAudit?: OnAudit | undefined;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
}

export type OptimizationModule = ReturnType<typeof buildOptimization>;

/** Everything that measures descriptions and writes new ones. */
export function buildOptimization(input: OptimizationInput) {
  const { store, catalog, pool, toolsets, options, logs, lease } = input;
  const { promotions, trials, isEnabled, setEnabled } = input.optimizer;
  const stack = new AsyncDisposableStack();
  const patience = stack.use(new TimeoutQueue(PATIENCE_MS));
  const endpoints = stack.use(new EvalEndpoints({ log: logs.module("http"), patience }));
  const subjects = catalogTargets({
    catalog,
    names: input.names,
    equipped() {
      // Everyone's toolset: a job has no principal.
      const toolset = toolsets.equippedBy(EVERYONE);
      return toolset ? toolsets.registered(toolset) : [];
    },
    equippedName: (principal = EVERYONE) => toolsets.equippedBy(principal)?.name,
    toolset: (name) => toolsets.registered(toolsets.resolve(name)),
  });
  const openDiscovery = (server: string, name: string) =>
    new EvalDiscovery({
      catalog,
      toolDirectory: input.toolDirectory,
      searches: buildSearches({
        ...input,
        isCommand: true,
        // Nobody watches this index.
        live: { events: { publish: () => {} } },
      }),
    }, { server, name });
  const folders = runFolders({ store: storeName(store.location, lease.id), leaseId: lease.id });
  const { evaluator, textModel, evaluatorProgram, ...models } = buildModels({
    ...input,
    isEnabled,
    redactor: logs.redactor,
    folders,
    openEndpoint: (tools, _signal, steps) => Promise.resolve(endpoints.open(tools, steps)),
  });

  // A command would look for the evaluator in its own environment, not the gateway's.
  const notRunning = { kind: null, model: null, problem: "No gateway is running" };
  const evaluatorInfo = input.isCommand ? () => Promise.resolve(notRunning) : models.evaluatorInfo;

  const kept = new JobsRepository(store);
  const runs = new EvalRunsRepository(store);
  const evaluations = new EvaluationsRepository(store);
  const comparisons = stack.use(buildComparisons({ ...input, claude: models.claude, folders }));
  const shared = {
    candidates: new CandidatesRepository(store),
    prompts: new GoldenPromptsRepository(store),
    runs,
    evaluations,
    promotions,
    textModel,
    isEnabled,
  };
  const jobs = stack.use(
    new OptimizationJobs({
      ...input,
      ...shared,
      jobs: kept,
      targets: subjects,
      openDiscovery,
      evaluator,
      defaultModels: options.evalModels?.split(","),
      concurrency: options.evalConcurrency,
      owner: lease.id,
      isOwnerAlive: lease.isAlive,
      onChange: input.live.tellJob,
    }),
  );
  const admin = new OptimizationAdmin({
    ...shared,
    onChange: input.optimizationChanged,
    jobs,
    trials,
    subjects,
    setEnabled,
    mayPromote: input.mayPromote,
    evaluatorInfo,
    findTool(name) {
      const table = input.names.of(catalog.snapshot);
      const tool = resolveTool({ table, naming: "namespaced", withDisabled: true }, name);
      return { server: tool.server, tool: tool.name };
    },
    hasServer: (name) => pool.find(name) !== undefined,
    canonicalTools(server) {
      pool.resolve(server);
      return catalog.of(server).tools.flatMap(({ name }) => {
        const subject = subjects.find(server, name);
        const inputSchema = subject?.definition.inputSchema;
        return subject ? { name, description: subject.canonicalDescription, inputSchema } : [];
      });
    },
  });

  async function clearAway(): Promise<void> {
    if (input.platform.canSpawn) await folders.sweep(lease.isAlive);
    await runs.prune({ olderThanMs: options.evalRetention * DAY_MS, most: MOST_RUNS });
    await kept.prune({ mostEnded: MOST_ENDED_JOBS });
    await evaluations.prune({ mostPerTool: MOST_EVALUATIONS, testsForMs: YEAR_MS });
  }
  if (!input.isCommand) {
    stack.use(keepUp({
      work: clearAway,
      everyMs: DAY_MS,
      onError: (error) => input.onWarning("Cannot delete old evaluation data", { error }),
    }));
  }
  return {
    admin,
    jobs,
    comparisons,
    evaluating: {
      check: new EvaluatorCheck({ info: evaluatorInfo, program: evaluatorProgram, isEnabled }),
      trial: new EvaluatorTrial({ evaluator, isEnabled }),
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Stores in memory are told apart by process. */
function storeName(location: Location, leaseId: string): string {
  if (location.kind === "file") return location.path;
  return location.kind === "remote" ? location.url : `${location.kind} ${leaseId}`;
}
