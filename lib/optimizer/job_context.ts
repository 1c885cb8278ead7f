import type { OnAudit } from "../core/audit.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import type { CandidatesRepository } from "../storage/candidates_repository.ts";
import type { EvalRunsRepository } from "../storage/eval_runs_repository.ts";
import type { EvaluationsRepository } from "../storage/evaluations_repository.ts";
import type { GoldenPromptsRepository } from "../storage/golden_prompts_repository.ts";
import type { JobsRepository } from "../storage/optimization_jobs_repository.ts";
import type { Budget } from "./budget.ts";
import type { Evaluator } from "./evaluator.ts";
import type { JobRecord } from "./job_record.ts";
import type { Promotions } from "./promotions.ts";
import type { Subjects } from "./subjects.ts";
import type { TextModel } from "./text_model.ts";

export interface JobsOptions {
  jobs: JobsRepository;
  candidates: CandidatesRepository;
  prompts: GoldenPromptsRepository;
  runs: EvalRunsRepository;
  evaluations: EvaluationsRepository;
  promotions: Promotions;
  subjects: Subjects;
  /** Throws CANNOT_EVALUATE. */
  evaluator(): Promise<Evaluator>;
  /** Throws CANNOT_GENERATE. */
  textModel(): Promise<TextModel>;
  /** How many requests to models run at once, of all jobs of this process. */
  concurrency: number;
  /** This process's lease. */
  owner: string;
  isOwnerAlive(owner: string): Promise<boolean>;
  isEnabled(): boolean;
  /** For live events: each change of phase at once, progress a few times a second. */
  onChange(job: OptimizationJob): void;
  /** Somebody has decided something about a job. */
  onAudit?: OnAudit | undefined;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
  /** Before a failed run is tried again; 1 s unless told. */
  retryDelayMs?: number;
}

/** What the work on one job shares. */
export interface JobContext {
  options: JobsOptions;
  record: JobRecord;
  budget: Budget;
  evaluator: Evaluator;
  /** Tools whose prompts were to be written, with what was said about that; nothing is tried twice. */
  written: Map<string, string[]>;
  /** Asked for only when something has to be written. */
  textModel(): Promise<TextModel>;
  signal: AbortSignal;
}
