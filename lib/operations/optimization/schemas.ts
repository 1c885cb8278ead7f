import * as z from "zod";
import { fieldHints } from "../fields.ts";
import {
  ArgumentsFit,
  CANONICAL,
  CategoryScores,
  Depth,
  DescriptionResult,
  EvalRun,
  Evaluation,
  EvaluatorInfo,
  GoldenPrompt,
  JobOptions,
  MissedBy,
  ModelResult,
  OptimizationJob,
  PromotedTool,
  PromotionEvent,
  PromptCategory,
  ToolCandidate,
  Verdict,
} from "../../core/optimization.ts";
import { OptimizationReport } from "../../core/optimization_report.ts";
import { OwnParameterTexts, ParameterTexts } from "../../core/tool_text.ts";

import { RunningTrial } from "./live_ab.ts";
import { SuspectPrompt } from "../../optimizer/evaluation/labels.ts";

export { JobEstimate } from "../../core/job_outcome.ts";

/** A tool: by its server and its own name, or by a name that has the server in it. */
export const TOOL = {
  server: z.string().optional().register(fieldHints, { isHidden: true, completes: "server" }),
  tool: z.string().register(fieldHints, { completes: "tool" }),
};
export const PromptId = z.string().register(fieldHints, { completes: "prompt" });
export const CandidateId = z.string().register(fieldHints, { completes: "candidate" });
export const JobId = z.string().register(fieldHints, { completes: "job" });
/** Why something is promoted or reverted, in a person's words. */
export const Reason = PromotedTool.shape.reason.unwrap().trim().min(1).optional()
  .describe("Reason for the tool's history")
  .register(fieldHints, { placeholder: "TEXT", isForPeople: true });

/** How many candidates are written at a time. */
export const CandidateCount = JobOptions.shape.candidatesPerTool;
/** How many prompts of one category are written at a time. */
export const PromptCount = z.int().min(0).max(50).default(5);
/** How many prompts are saved at a time. */
export const MOST_SAVED_PROMPTS = 200;

const { prompt } = GoldenPrompt.shape;
export const PROMPT_LENGTH = { least: prompt.minLength ?? 0, most: prompt.maxLength ?? Infinity };
export const MAX_EXAMPLE = ToolCandidate.shape.example.unwrap().maxLength ?? Infinity;

/** A tool as its server describes it. */
export const OriginalTool = z.object({
  name: z.string(),
  description: z.string().nullable(),
  inputSchema: z.unknown(),
});
export type OriginalTool = z.infer<typeof OriginalTool>;

export const Overview = z.object({
  enabled: z.boolean(),
  /** With what was checked of it, in words; null if nothing was. */
  evaluator: EvaluatorInfo.extend({ checked: z.string().nullable() }),
  reports: z.array(OptimizationReport),
});
export type Overview = z.infer<typeof Overview>;

export const ReportData = z.object({
  reports: z.array(OptimizationReport),
  total: OptimizationReport.omit({ serverName: true, tools: true }),
  note: z.string(),
});

/** What is known of a candidate, and whether that is enough. */
export const Evidence = z.object({
  /** `measured`: by the gateway; `reported`: by a caller. */
  source: z.enum(["measured", "reported"]),
  depth: Depth,
  metrics: CategoryScores,
  /** The canonical description on the same prompts. */
  baseline: CategoryScores,
  /** How many prompts they stand on: those that have runs. */
  prompts: z.int(),
  /** How many tools of other servers were shown beside the server's own. */
  beside: z.int().exactOptional(),
  setting: z.string().exactOptional(),
  errors: z.int(),
  evaluationId: z.string().exactOptional(),
  /** When the last of it was found. */
  time: z.string(),
  /** Each model's numbers, where several were asked. */
  models: z.array(ModelResult).exactOptional(),
  verdict: Verdict.exactOptional(),
  /** Why nothing can be concluded from it, if so. */
  problem: z.string().exactOptional(),
});
export type Evidence = z.infer<typeof Evidence>;

/** One run, as far as a reader of results needs it. */
export const RunSummary = z.object({
  runId: z.string(),
  promptId: z.string(),
  status: EvalRun.shape.status,
  toolCalled: z.boolean(),
  correct: z.boolean(),
  timestamp: z.string(),
  durationMs: z.number(),
  /** The tools that were called instead, or as well. */
  otherTools: z.array(z.string()),
  error: z.string().exactOptional(),
  reasoning: z.string().exactOptional(),
  missed: MissedBy.exactOptional(),
  arguments: ArgumentsFit.exactOptional(),
});
export type RunSummary = z.infer<typeof RunSummary>;

/** The tool's place in our own search for one prompt; null: not found. */
const PromptRank = z.object({
  promptId: z.string(),
  category: PromptCategory,
  rank: z.number().nullable(),
});
export type PromptRank = z.infer<typeof PromptRank>;

/** Rates; null if there is no data. */
export const Rates = z.object({
  directSuccess: z.number().nullable(),
  indirectSuccess: z.number().nullable(),
  negativeSuccess: z.number().nullable(),
  overall: z.number().nullable(),
});

const Interval = z.object({ low: z.number(), high: z.number() }).nullable();

/** What is known of one description of a tool. */
export const CandidateResults = z.object({
  /** `canonical`, or a candidate's. */
  candidateId: z.string(),
  tool: z.string(),
  description: z.string(),
  parameters: ParameterTexts.exactOptional(),
  metrics: Rates,
  /** Correct of all. */
  counts: CategoryScores,
  /** 95 %; null if there is no data. */
  intervals: z.record(z.enum([...PromptCategory.options, "overall"]), Interval),
  evidence: Evidence.nullable(),
  /** Which tool was called, by what should have been: counts. */
  confusion: z.record(z.string(), z.record(z.string(), z.number())),
  /** A second opinion without a model. */
  ranks: z.array(PromptRank),
  /** Why it was not called, where it has to be found first. */
  missed: DescriptionResult.shape.missed.unwrap().exactOptional(),
  arguments: DescriptionResult.shape.arguments.unwrap().exactOptional(),
  /** The newest, of what the numbers stand on. */
  runs: z.array(RunSummary),
  runCount: z.int(),
});
export type CandidateResults = z.infer<typeof CandidateResults>;

/** All there is to know about one tool's descriptions. */
export const ToolOptimizationDetail = z.object({
  server: z.string(),
  tool: z.string(),
  /** Whether its server has it today. */
  exists: z.boolean(),
  enabled: z.boolean(),
  /** What the server itself says; null if it says nothing. */
  canonicalDescription: z.string().nullable(),
  /** What it says of each parameter whose text can be replaced. */
  canonicalParameters: OwnParameterTexts,
  /** For all clients. */
  promotion: PromotedTool.nullable(),
  /** For clients with models of one family. */
  familyPromotions: z.array(PromotedTool),
  /** Those that only a share of sessions gets. */
  trials: z.array(RunningTrial),
  /** What callers reported of the server's own description, if nothing was measured. */
  reported: Evidence.nullable(),
  /** Set if what it was promoted on has changed: the server's own description, a sibling or the model. */
  staleness: z.object({
    reasons: z.array(z.string()),
    before: z.string().nullable(),
    now: z.string().nullable(),
    /** Of the parameters that the promotion has texts for; missing: there is no such parameter. */
    parameters: z.array(z.object({
      path: z.string(),
      before: z.string().nullish(),
      now: z.string().nullish(),
    })).exactOptional(),
  }).nullable(),
  /** Oldest first. */
  candidates: z.array(ToolCandidate.extend({ evidence: Evidence.nullable() })),
  prompts: z.array(GoldenPrompt),
  /** Prompts whose label may be wrong. */
  suspects: z.array(SuspectPrompt),
  warnings: z.array(z.string()),
  /** Newest first. */
  evaluations: z.array(Evaluation),
  /** Newest first. */
  history: z.array(PromotionEvent),
  /** The job that works on it. */
  job: OptimizationJob.nullable(),
});
export type ToolOptimizationDetail = z.infer<typeof ToolOptimizationDetail>;

/** A prompt as people and models write it. */
export const WrittenPrompt = z.strictObject({
  id: z.string().optional().describe("Yours, or one to replace"),
  toolName: z.string().optional(),
  category: PromptCategory,
  prompt: z.string(),
  /** What is left out follows from the category. */
  expectedBehavior: z.strictObject({
    shouldCallTool: z.boolean().optional(),
    notes: z.string().optional(),
    expectedTool: z.string().optional().describe("Sibling to call instead"),
    expectedArguments: z.record(z.string(), z.unknown()).optional()
      .describe("What the call must contain"),
  }).optional(),
});
export type WrittenPrompt = z.infer<typeof WrittenPrompt>;

/** The fields of a prompt that change; the others stay. */
export const EditedPrompt = z.strictObject({
  id: PromptId,
  prompt: z.string().optional().describe("New text")
    .register(fieldHints, { placeholder: "TEXT", completes: "nothing" }),
  category: PromptCategory.optional(),
  expectedBehavior: WrittenPrompt.shape.expectedBehavior.describe("Expected result")
    .register(fieldHints, {
      flag: "expected",
      placeholder: "JSON",
      help: 'Expected result, such as {"expectedTool":"opening_hours"}',
    }),
});
export type EditedPrompt = z.infer<typeof EditedPrompt>;

export const LabelDecision = z.enum(["keep", "relabel", "drop"]);
export type LabelDecision = z.infer<typeof LabelDecision>;

/** A run that a caller made by itself. Whether it is correct follows from the prompt. */
export const ReportedRun = z.strictObject({
  server: TOOL.server,
  candidateId: CandidateId.describe(`Or "${CANONICAL}"`),
  promptId: PromptId,
  tool: TOOL.tool.optional(),
  result: z.object({
    toolCalled: z.boolean(),
    correct: z.boolean().optional(),
    error: z.string().optional(),
    reasoning: z.string().optional(),
    durationMs: z.number().min(0).default(0),
  }).register(fieldHints, { isHidden: true, help: "Result of the run" }),
});
export type ReportedRun = z.infer<typeof ReportedRun>;

/** Which results are meant: a candidate's, a tool's or all of a server's. */
export const AskedResults = z.strictObject({
  server: TOOL.server,
  candidateId: CandidateId.optional(),
  tool: TOOL.tool.optional(),
});
export type AskedResults = z.infer<typeof AskedResults>;

export const SavedPrompts = z.object({
  saved: z.int(),
  /** In the order they were given. */
  prompts: z.array(GoldenPrompt),
  /** The tool's other prompts that are no longer asked. */
  retired: z.int().exactOptional(),
  warnings: z.array(z.string()),
});
export type SavedPrompts = z.infer<typeof SavedPrompts>;
