import type { EvaluatorKind } from "../../core/optimization.ts";
import type { OptimizationJobs } from "../../optimizer/jobs.ts";
import type { Promotions } from "../../optimizer/promotions.ts";
import type { Subjects } from "../../optimizer/subjects.ts";
import type { TextModel } from "../../optimizer/text_model.ts";
import type { CandidatesRepository } from "../../storage/candidates_repository.ts";
import type { EvalRunsRepository } from "../../storage/eval_runs_repository.ts";
import type { EvaluationsRepository } from "../../storage/evaluations_repository.ts";
import type { GoldenPromptsRepository } from "../../storage/golden_prompts_repository.ts";

/** A tool as its server describes it. */
export interface CanonicalTool {
  name: string;
  description: string | null;
  inputSchema: unknown;
}

/** What evaluates, or why nothing can. */
export interface EvaluatorInfo {
  kind: EvaluatorKind | null;
  model: string | null;
  problem: string | null;
}

export interface OptimizationAdminOptions {
  /** Called when candidates, prompts, reports or promotions were changed here. */
  onChange?(): void;
  candidates: CandidatesRepository;
  prompts: GoldenPromptsRepository;
  runs: EvalRunsRepository;
  evaluations: EvaluationsRepository;
  promotions: Promotions;
  jobs: OptimizationJobs;
  subjects: Subjects;
  /** Throws CANNOT_GENERATE. */
  textModel(): Promise<TextModel>;
  isEnabled(): boolean;
  setEnabled(on: boolean): Promise<void>;
  /** Whether a caller may decide which words all clients read. */
  mayPromote(principal: string): boolean;
  evaluatorInfo(): Promise<EvaluatorInfo>;
  /** Throws SERVER_NOT_FOUND. */
  canonicalTools(server: string): CanonicalTool[];
}
