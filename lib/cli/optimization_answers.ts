import { z } from "zod";
import {
  Depth,
  Evaluation,
  EvaluatorKind,
  GoldenPrompt,
  Metrics,
  OptimizationJob,
  OptimizationReport,
  PromotedTool,
  PromotionEvent,
  ToolCandidate,
  Verdict,
} from "../core/optimization.ts";

/** How everything stands. */
export const Overview = z.object({
  enabled: z.boolean(),
  evaluator: z.object({
    kind: EvaluatorKind.nullable(),
    model: z.string().nullable(),
    /** Why nothing can be evaluated, where that is so. */
    problem: z.string().nullable(),
  }),
  reports: z.array(OptimizationReport),
});
export type Overview = z.infer<typeof Overview>;

/** What is known of a candidate, and whether that is enough. */
const Evidence = z.object({
  source: z.enum(["measured", "reported"]),
  depth: Depth,
  metrics: Metrics,
  baseline: Metrics,
  errors: z.int(),
  evaluationId: z.string().optional(),
  time: z.string(),
  verdict: Verdict.optional(),
  /** Why nothing can be concluded from it. */
  problem: z.string().optional(),
});

const KnownCandidate = ToolCandidate.extend({ evidence: Evidence.nullable() });
export type KnownCandidate = z.infer<typeof KnownCandidate>;

/** One tool with everything that is kept of it. */
export const ToolDetail = z.object({
  server: z.string(),
  tool: z.string(),
  exists: z.boolean(),
  enabled: z.boolean(),
  canonicalDescription: z.string().nullable(),
  promotion: PromotedTool.nullable(),
  staleness: z.object({ before: z.string().nullable(), now: z.string().nullable() }).nullable(),
  candidates: z.array(KnownCandidate),
  prompts: z.array(GoldenPrompt),
  warnings: z.array(z.string()),
  evaluations: z.array(Evaluation),
  history: z.array(PromotionEvent),
  job: OptimizationJob.nullable(),
});
export type ToolDetail = z.infer<typeof ToolDetail>;

/** Runs of one description, as far as a list of prompts needs them. */
export const Results = z.object({
  candidates: z.array(z.object({
    candidateId: z.string(),
    runs: z.array(z.object({
      promptId: z.string(),
      status: z.enum(["ok", "error"]),
      correct: z.boolean(),
      toolCalled: z.boolean(),
      otherTools: z.array(z.string()),
    })),
  })),
});
export type PromptRun = z.infer<typeof Results>["candidates"][number]["runs"][number];

/** What a job would take. */
export const Estimate = z.object({
  tools: z.int(),
  runs: z.int(),
  seconds: z.number(),
  costUsd: z.number().nullable(),
  basis: z.string(),
});
export type Estimate = z.infer<typeof Estimate>;

export const SavedPrompts = z.object({
  saved: z.int(),
  prompts: z.array(GoldenPrompt),
  warnings: z.array(z.string()),
});
export type SavedPrompts = z.infer<typeof SavedPrompts>;

export const GeneratedCandidates = z.object({
  candidates: z.array(ToolCandidate),
  warnings: z.array(z.string()),
});
export type GeneratedCandidates = z.infer<typeof GeneratedCandidates>;

export const Reports = z.object({ reports: z.array(OptimizationReport) });
export const OneJob = z.object({ job: OptimizationJob });
export const AllJobs = z.object({ jobs: z.array(OptimizationJob) });
export const OneCandidate = z.object({ candidate: ToolCandidate });
export const OnePromotion = z.object({ promotion: PromotedTool });
export const MaybePromotion = z.object({ promotion: PromotedTool.nullable() });
export const Enabled = z.object({ enabled: z.boolean() });
