import type { Catalog } from "./catalog/catalog.ts";
import { composeModels } from "./compose_models.ts";
import { keepUp } from "./compose_upkeep.ts";
import type { Platform } from "./config/deployment.ts";
import type { Env } from "./config/env.ts";
import type { Options } from "./config/option_table.ts";
import type { OnAudit } from "./core/audit.ts";
import type { OptimizationJob } from "./core/optimization.ts";
import { EVERYONE } from "./core/principal.ts";
import { TimeoutQueue } from "./core/timeout_queue.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import type { ProcessOwner } from "./downstream/stdio/process_owner.ts";
import { EvalDoors } from "./http/eval_doors.ts";
import { CatalogSubjects } from "./optimizer/catalog_subjects.ts";
import { EvaluatorTrial } from "./optimizer/evaluator_trial.ts";
import { OptimizationJobs } from "./optimizer/jobs.ts";
import { RunFolders } from "./optimizer/models/run_folders.ts";
import type { Promotions } from "./optimizer/promotions.ts";
import type { NameTables } from "./routing/name_table.ts";
import { CandidatesRepository } from "./storage/candidates_repository.ts";
import { EvalRunsRepository } from "./storage/eval_runs_repository.ts";
import { EvaluationsRepository } from "./storage/evaluations_repository.ts";
import { GoldenPromptsRepository } from "./storage/golden_prompts_repository.ts";
import type { Location } from "./storage/location.ts";
import { JobsRepository } from "./storage/optimization_jobs_repository.ts";
import type { Store } from "./storage/store.ts";
import { EvaluatorCheck } from "./surfaces/optimization/evaluator_check.ts";
import { OptimizationAdmin } from "./surfaces/optimization_admin.ts";
import { optimizationTools } from "./surfaces/optimization_tools.ts";
import type { Logs } from "./telemetry/logs.ts";
import type { Toolsets } from "./toolsets/toolsets.ts";

const PATIENCE_MS = 50;
const DAY_MS = 24 * 60 * 60_000;
const MOST_RUNS = 200_000;
const MOST_ENDED_JOBS = 500;
const MOST_EVALUATIONS = 50;

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
  mayPromote(principal: string): boolean;
  onJob(job: OptimizationJob): void;
  /** Candidates, prompts, reports or promotions were changed here. */
  onChanged(): void;
  onAudit?: OnAudit | undefined;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
}

export type Optimizer = ReturnType<typeof composeOptimizer>;

/** Everything that measures descriptions and writes others. */
export function composeOptimizer(input: ComposeOptimizerInput) {
  const { store, catalog, pool, toolsets, options, logs, promotions, leaseId } = input;
  const stack = new AsyncDisposableStack();
  const patience = stack.use(new TimeoutQueue(PATIENCE_MS));
  const doors = stack.use(new EvalDoors({ log: logs.room("http"), patience }));
  const subjects = new CatalogSubjects({
    catalog,
    names: input.names,
    equipped() {
      // Everyone's, whoever asks: a job has no principal until clients have tokens of their own.
      const toolset = toolsets.equippedBy(EVERYONE);
      return toolset ? toolsets.registered(toolset) : [];
    },
  });
  const folders = new RunFolders({ store: storeName(store.location, leaseId), leaseId });
  const { evaluator, textModel, evaluatorInfo, evaluatorProgram } = composeModels({
    ...input,
    redactor: logs.redactor,
    folders,
    openDoor: (tools) => Promise.resolve(doors.open(tools)),
  });

  const candidates = new CandidatesRepository(store);
  const prompts = new GoldenPromptsRepository(store);
  const runs = new EvalRunsRepository(store);
  const evaluations = new EvaluationsRepository(store);
  const kept = new JobsRepository(store);
  const jobs = stack.use(
    new OptimizationJobs({
      jobs: kept,
      candidates,
      prompts,
      runs,
      evaluations,
      promotions,
      subjects,
      evaluator,
      textModel,
      concurrency: options.evalConcurrency,
      owner: leaseId,
      isOwnerAlive: (owner) => input.isLeaseAlive(owner),
      isEnabled: input.isEnabled,
      onChange: input.onJob,
      onAudit: input.onAudit,
      onWarning: input.onWarning,
      signal: input.signal,
    }),
  );
  const admin = new OptimizationAdmin({
    onChange: input.onChanged,
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
    mayPromote: input.mayPromote,
    evaluatorInfo,
    canonicalTools(server) {
      pool.resolve(server);
      return catalog.of(server).tools.flatMap(({ name, definition: { inputSchema } }) => {
        const subject = subjects.find(server, name);
        return subject ? { name, description: subject.canonicalDescription, inputSchema } : [];
      });
    },
  });

  async function clearAway(): Promise<void> {
    if (input.platform.canSpawn) await folders.sweep((id) => input.isLeaseAlive(id));
    await runs.prune({ olderThanMs: options.evalRetention * DAY_MS, most: MOST_RUNS });
    await kept.prune({ mostEnded: MOST_ENDED_JOBS });
    await evaluations.prune({ mostPerTool: MOST_EVALUATIONS });
  }
  stack.use(keepUp({
    work: clearAway,
    everyMs: DAY_MS,
    onError: (error) => input.onWarning("Cannot clear away what old evaluations left", { error }),
  }));
  const tools = optimizationTools(admin);
  const evaluating = {
    check: new EvaluatorCheck({
      info: evaluatorInfo,
      program: evaluatorProgram,
      isEnabled: input.isEnabled,
    }),
    trial: new EvaluatorTrial({ evaluator, isEnabled: input.isEnabled }),
  };
  return { admin, jobs, tools, evaluating, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** What is in memory is known to this process alone, whatever other stores are called. */
function storeName(location: Location, leaseId: string): string {
  switch (location.kind) {
    case "file":
      return location.path;
    case "remote":
      return location.url;
    default:
      return `${location.kind} ${leaseId}`;
  }
}
