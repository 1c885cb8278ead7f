import * as z from "zod";
import { LiveTrial, LiveTrialResult } from "./live_trial.ts";
import { ModelFamily } from "./model_family.ts";
import { EvaluatorKind, ModelRef, modelRef, ModelRefs } from "./model_ref.ts";
import { ServerName } from "./server.ts";
import { MAX_DESCRIPTION, OwnParameterTexts, ParameterTexts, TEXT_FIELDS } from "./tool_text.ts";

export { EvaluatorKind, modelRef, parseModelRef } from "./model_ref.ts";
export { descriptionHash, MAX_DESCRIPTION, textHash, type ToolText } from "./tool_text.ts";

/** The longest reason that the writer of a candidate may give. */
export const MAX_WHY = 300;
/** In the place of a candidate's id: the description that the server itself gives. */
export const CANONICAL = "canonical";

const Time = z.iso.datetime();
const ToolKey = { server: ServerName, toolName: z.string().min(1) };

export const CATEGORIES = ["direct", "indirect", "negative"] as const;
export const PromptCategory = z.enum(CATEGORIES);
export type PromptCategory = z.infer<typeof PromptCategory>;
export const TextOrigin = z.enum(["caller", "person", "generated"]);
export type TextOrigin = z.infer<typeof TextOrigin>;

/** How the client shows tools to its model: all at once, or behind a search of its own. */
export const ClientView = z.enum(["inline", "deferred"]);
export type ClientView = z.infer<typeof ClientView>;
/** A server's tools, exactly a toolset's (`equipped`: the caller's), or our own search for tools. */
const SURFACE = /^(server|equipped|discovery|toolset:.+)$/;
const Surface = z.string().regex(SURFACE, "must be server, equipped, discovery or toolset:NAME");

/** It was never searched for; searches did not show it; it was shown and left alone. */
export const MissedBy = z.enum(["not-searched", "not-found", "not-called"]);
export type MissedBy = z.infer<typeof MissedBy>;

/** Arguments that do not fit the tool's schema, or that are not those which the prompt states. */
export const ArgumentsFit = z.enum(["valid", "invalid", "unexpected"]);
export type ArgumentsFit = z.infer<typeof ArgumentsFit>;

/** What evaluators ask if no model is set. */
export const DEFAULT_MODELS: Partial<Record<EvaluatorKind, string>> = {
  "claude-cli": "sonnet",
  "messages-api": "claude-sonnet-4-5",
};

/** The evaluator in use, or why there is none. */
export const EvaluatorInfo = z.object({
  kind: EvaluatorKind.nullable(),
  model: z.string().nullable(),
  problem: z.string().nullable(),
});
export type EvaluatorInfo = z.infer<typeof EvaluatorInfo>;

/** A description that might be better than the server's own, maybe with texts for parameters. */
export const ToolCandidate = z.strictObject({
  id: z.string(),
  ...ToolKey,
  ...TEXT_FIELDS,
  example: z.string().max(2_000).optional(),
  charCount: z.int().min(1).max(MAX_DESCRIPTION),
  createdAt: Time,
  origin: TextOrigin,
  /** If it was written from what another description got wrong. */
  lineage: z.strictObject({
    /** CANONICAL, or a candidate's. */
    parent: z.string(),
    /** The round of its job that wrote it, from 1. */
    round: z.int().min(1),
    failures: z.int().min(0),
    /** What its writer changed, and why. */
    why: z.string().max(MAX_WHY).optional(),
  }).optional(),
});
export type ToolCandidate = z.infer<typeof ToolCandidate>;

/** One version of something a user might say, and what should come of it. */
export const GoldenPrompt = z.strictObject({
  /** The same through all versions. */
  id: z.string(),
  /** Counts up from 1 with each edit. */
  version: z.int().min(1),
  ...ToolKey,
  category: PromptCategory,
  prompt: z.string().min(10).max(4_000),
  expectedBehavior: z.strictObject({
    shouldCallTool: z.boolean(),
    notes: z.string().max(1_000).optional(),
    /** For a prompt that is meant for another tool: its own name, after `server.` of another server. */
    expectedTool: z.string().optional(),
    /** What the call has to contain; it may contain more. */
    expectedArguments: z.record(z.string(), z.unknown()).optional(),
  }),
  createdAt: Time,
  origin: TextOrigin,
  /** Never shown to what writes candidates. */
  heldOut: z.boolean().default(false),
  /** From this version on it is no longer asked. */
  retired: z.boolean().default(false),
  /** A person looked at its label and keeps it. */
  isConfirmed: z.literal(true).optional(),
});
export type GoldenPrompt = z.infer<typeof GoldenPrompt>;

const ObservedCall = z.strictObject({
  /** The flat name it was listed under. */
  name: z.string(),
  /** Whose it is, where that is known. */
  server: z.string().optional(),
  tool: z.string().optional(),
  arguments: z.unknown(),
});

export const RunCost = z.strictObject({
  inputTokens: z.number().default(0),
  outputTokens: z.number().default(0),
  /** Missing if nothing is known of it: that is not free. */
  costUsd: z.number().optional(),
  /** Of a sum: a part of it has no price, and `costUsd` is that of the rest. */
  costKnown: z.literal(false).optional(),
});
export type RunCost = z.infer<typeof RunCost>;

/** One prompt put to one description once. One that went wrong says nothing about either. */
export const EvalRun = z.strictObject({
  id: z.string(),
  ...ToolKey,
  /** CANONICAL, or a candidate's. */
  candidateId: z.string(),
  promptId: z.string(),
  promptVersion: z.int(),
  /** The evaluation it belongs to; runs that callers reported on their own belong to none. */
  evaluationId: z.string().optional(),
  repeat: z.int().min(0).default(0),
  timestamp: Time,
  status: z.enum(["ok", "error"]),
  result: z.strictObject({
    toolCalled: z.boolean(),
    correct: z.boolean(),
    error: z.string().optional(),
    reasoning: z.string().optional(),
    durationMs: z.number(),
    /** Why the tool was not called, where the model has to find it first. */
    missed: MissedBy.optional(),
    arguments: ArgumentsFit.optional(),
  }),
  /** Every tool that was called, this one and others, in order. */
  calls: z.array(ObservedCall).default([]),
  evaluator: EvaluatorKind,
  model: z.string().optional(),
  /** What the evaluator was told to ask; `model` is what answered. */
  askedModel: z.string().optional(),
  descriptionHash: z.string(),
  cost: RunCost.default({ inputTokens: 0, outputTokens: 0 }),
  attempts: z.int().min(1).default(1),
});
export type EvalRun = z.infer<typeof EvalRun>;

/** Whether the run's evaluator asked this model. */
export function isOfModel({ evaluator: kind, askedModel }: EvalRun, ref: string): boolean {
  return askedModel !== undefined && modelRef({ kind, model: askedModel }) === ref;
}

export const SuccessCount = z.strictObject({
  correct: z.int(),
  total: z.int(),
  /** How many prompts that was, where some were asked more than once. */
  prompts: z.int().optional(),
});
export type SuccessCount = z.infer<typeof SuccessCount>;

/** Counts, not rates: an empty category has no rate. */
export const CategoryScores = z.strictObject({
  direct: SuccessCount,
  indirect: SuccessCount,
  negative: SuccessCount,
  overall: SuccessCount,
});
export type CategoryScores = z.infer<typeof CategoryScores>;

export const Depth = z.enum(["quick", "thorough"]);
export type Depth = z.infer<typeof Depth>;

const MeasuredGain = z.strictObject({
  mean: z.number(),
  low: z.number(),
  high: z.number(),
  prompts: z.int(),
});

/** Whether a candidate may be promoted by itself, and why or why not. */
export const Verdict = z.strictObject({
  promote: z.boolean(),
  /** Not by itself: a person decides. It is not confirmed, or confirmed and below the thresholds. */
  proposed: z.boolean().optional(),
  /** Fresh prompts confirmed that it is better than every description it was compared with. */
  confirmed: z.boolean().optional(),
  /** Over the description that it beats by less, as a fraction; the interval holds at every look. */
  gain: MeasuredGain.optional(),
  /** Whose description that is, if not the server's own. */
  gainOver: z.string().optional(),
  /** If it is confirmed only for these families of models: it may be promoted for each of them. */
  families: z.array(ModelFamily).optional(),
  depth: Depth,
  /** One sentence; always says how much evidence there is. */
  words: z.string(),
  /** The part of it about the evidence; older records lack it. */
  evidence: z.string().optional(),
  /** If the rest could not change it: after how many prompts or runs that was clear. */
  stopped: z.string().optional(),
  rules: z.array(z.strictObject({
    rule: z.enum([
      "evidence",
      "overall",
      "negative",
      "improvement",
      "regression",
      "siblings",
      "significance",
    ]),
    passed: z.boolean(),
    words: z.string(),
  })),
  /** About how many more runs would settle it, where there are too few. */
  moreRuns: z.int().optional(),
  /** Where only other prompts that are held out would: how many of them those runs are for. */
  morePrompts: z.int().optional(),
});
export type Verdict = z.infer<typeof Verdict>;

export const Thresholds = z.strictObject({
  minOverall: z.number().min(0).max(1).default(0.85),
  minNegative: z.number().min(0).max(1).default(0.80),
  minImprovement: z.number().min(0).max(1).default(0.05),
  maxRegression: z.number().min(0).max(1).default(0.10),
});
export type Thresholds = z.infer<typeof Thresholds>;

/** What one of several models made of a description. */
export const ModelResult = z.strictObject({
  model: ModelRef,
  family: ModelFamily.optional(),
  metrics: CategoryScores,
  /** The canonical description on the same prompts. */
  baseline: CategoryScores.optional(),
  /** Over the description that it beats by less. */
  gain: MeasuredGain.optional(),
});
export type ModelResult = z.infer<typeof ModelResult>;

export const DescriptionResult = z.strictObject({
  candidateId: z.string(),
  description: z.string(),
  parameters: ParameterTexts.optional(),
  metrics: CategoryScores,
  /** Of a candidate: both sides' counts on the prompts that both answered, which compare them. */
  paired: z.strictObject({ candidate: CategoryScores, baseline: CategoryScores }).optional(),
  errors: z.int(),
  /** Which tool was called, by what should have been: counts. Neither: `(none)`. */
  confusion: z.record(z.string(), z.record(z.string(), z.int())),
  /** Its place in our own search for each prompt that should find it, by prompt; null: not found. */
  ranks: z.record(z.string(), z.number().nullable()).default({}),
  /** Why it was not called for prompts that should call it, where it has to be found first: counts. */
  missed: z.partialRecord(MissedBy, z.int()).optional(),
  /** How the arguments of its calls were, where they should be made: counts. */
  arguments: z.partialRecord(ArgumentsFit, z.int()).optional(),
  /** Missing for the canonical description. */
  verdict: Verdict.optional(),
  /** Each model's numbers, where there are several; the others are of all together. */
  models: z.array(ModelResult).optional(),
});
export type DescriptionResult = z.infer<typeof DescriptionResult>;

/** All descriptions of one tool put to the same prompts. */
export const Evaluation = z.strictObject({
  id: z.string(),
  ...ToolKey,
  depth: Depth,
  startedAt: Time,
  endedAt: Time,
  evaluator: EvaluatorKind,
  model: z.string().optional(),
  /** What the evaluator was told to ask; `model` is what answered. */
  askedModel: z.string().optional(),
  /** All that were asked, where there are several; the first is the one above. */
  models: z.array(ModelRef).optional(),
  thresholds: Thresholds,
  /** The probability of a wrong promotion that it could spend, of its tool's share for a year. */
  alpha: z.number().optional(),
  /** The prompts that decided, by category. */
  prompts: z.strictObject({ direct: z.int(), indirect: z.int(), negative: z.int() }),
  repeats: z.int(),
  /** Flat names of other servers' tools that were shown beside the server's own, sorted. */
  beside: z.array(z.string()).optional(),
  /** In words: what differs from tools that are all shown at once. Numbers of others are not comparable. */
  setting: z.string().optional(),
  results: z.array(DescriptionResult),
  /** The server's own texts of the parameters that the results have texts for. */
  canonicalParameters: OwnParameterTexts.optional(),
  /** Of older records: the evaluation whose winner it puts to the same prompts once more. */
  confirms: z.string().optional(),
  runs: z.int(),
  errors: z.int(),
  cost: RunCost,
  /** Another gateway made it: it came in a file, and promotes nothing by itself. */
  imported: z.literal(true).optional(),
  /** Why nothing can be concluded from it, where that is so. */
  void: z.string().optional(),
  warnings: z.array(z.string()),
});
export type Evaluation = z.infer<typeof Evaluation>;

/** A description in force in the place of the server's own. */
export const PromotedTool = z.strictObject({
  id: z.string(),
  ...ToolKey,
  candidateId: z.string(),
  promotedAt: Time,
  ...TEXT_FIELDS,
  metrics: CategoryScores.optional(),
  baseline: CategoryScores.optional(),
  evaluationId: z.string().optional(),
  depth: Depth.optional(),
  verdict: Verdict.optional(),
  prompts: z.int().optional(),
  /** Whether the gateway measured the numbers, or a caller reported them. */
  source: z.enum(["measured", "reported"]).optional(),
  /** Why a person promoted it against the verdict. */
  reason: z.string().max(1_000).optional(),
  /** `caller`: an MCP client; `person`: in the console or on the command line; `job`: by itself. */
  by: z.enum(["caller", "person", "job"]),
  /** For clients with such models only; missing: for all that have none of their own. */
  family: ModelFamily.optional(),
  /** A live A/B that is under way, and how the last one ended. */
  trial: LiveTrial.optional(),
  trialResult: LiveTrialResult.optional(),
  /** The server's own description when it was promoted; null if it had none. */
  canonicalDescription: z.string().nullable(),
  /** The server's own texts of the parameters that it has texts for, when it was promoted. */
  canonicalParameters: OwnParameterTexts.optional(),
  /** A person has seen that the server's own description changed, and keeps the promotion: its hash. */
  keptOver: z.string().optional(),
  /** What it was tested with, as the evaluator was asked. */
  testedWith: z.strictObject({ evaluator: EvaluatorKind, model: z.string() }).optional(),
  /** All models that it was tested with, where there were several. */
  testedModels: z.array(ModelRef).optional(),
  /** The nearest siblings when it was promoted, with hashes of their own descriptions. */
  siblings: z.record(z.string(), z.string()).optional(),
});
export type PromotedTool = z.infer<typeof PromotedTool>;

export const PromotionEvent = z.strictObject({
  id: z.string(),
  ...ToolKey,
  time: Time,
  action: z.enum(["promote", "revert", "keep", "trial-start", "trial-end"]),
  /** `trial`: a live A/B that ended by itself. */
  by: z.enum(["caller", "person", "job", "trial"]),
  family: ModelFamily.optional(),
  /** What is in force after it; null: the server's own description, or for a family that for all. */
  promotion: PromotedTool.nullable(),
  reason: z.string().max(1_000).optional(),
  /** How a live A/B ended with it. */
  trialResult: LiveTrialResult.optional(),
});
export type PromotionEvent = z.infer<typeof PromotionEvent>;

const JobPhase = z.enum(["queued", "generating", "evaluating", "promoting", "complete"]);
export const JobStatus = z.enum(["running", "paused", "completed", "cancelled", "failed"]);
export type JobStatus = z.infer<typeof JobStatus>;

export const JobOptions = z.strictObject({
  depth: Depth.default("quick"),
  candidatesPerTool: z.int().min(1).max(10).default(4),
  /** How often candidates are written; from the second time on from what the best ones get wrong. */
  rounds: z.int().min(1).max(10).optional(),
  promptsPerCategory: z.int().min(1).max(100).optional(),
  repeats: z.int().min(1).max(10).optional(),
  thresholds: Thresholds.default(Thresholds.parse({})),
  /** Whether what the verdict allows is promoted at the end. */
  autoPromote: z.boolean().default(true),
  /** Whether candidates and prompts may be generated; else what is saved is evaluated. */
  generate: z.boolean().default(true),
  /** Whether candidates are written with texts for parameters as well. */
  parameters: z.boolean().default(false),
  candidateIds: z.array(z.string()).optional(),
  /** Missing: the evaluator that is set. */
  models: ModelRefs.optional(),
  /** Whether only the description in force is put to the saved prompts, without any candidate. */
  check: z.boolean().optional(),
  /** Whether the equipped toolset's tools are shown beside the server's. */
  withToolset: z.boolean().default(false),
  view: ClientView.default("inline"),
  surface: Surface.default("server"),
  /** Whether arguments have to fit, and only the right tool or named sibling to be called. */
  strict: z.boolean().default(false),
  /** It stops before it would spend more. */
  maxRuns: z.int().min(1).max(1_000_000).optional(),
  maxCostUsd: z.number().positive().optional(),
});
export type JobOptions = z.infer<typeof JobOptions>;

/** What a tool is tested with, chosen once: also after a restart it is the same. */
export const TestPlan = z.strictObject({
  candidateIds: z.array(z.string()),
  /** With whether it counts as held out in this evaluation. */
  prompts: z.array(
    z.strictObject({ id: z.string(), version: z.int(), heldOut: z.boolean().default(false) }),
  ),
  siblingPrompts: z.array(z.strictObject({ id: z.string(), version: z.int() })),
  /** The probability of a wrong promotion that the test may spend. */
  alpha: z.number().optional(),
  /** The promoted candidate, which others have to beat. */
  inForce: z.string().optional(),
  ofFamily: z.partialRecord(ModelFamily, z.string()).optional(),
  /** If candidates are written: how many in the first round, and what each round was written from. */
  writing: z.strictObject({ first: z.int(), parents: z.array(z.string()) }).optional(),
  warnings: z.array(z.string()).default([]),
});
export type TestPlan = z.infer<typeof TestPlan>;

export const JobTool = z.strictObject({
  ...ToolKey,
  phase: JobPhase,
  /** Decides which evaluation its runs belong to, also after a restart. */
  evaluationId: z.string(),
  runsDone: z.int().default(0),
  runsTotal: z.int().default(0),
  /** Runs done of runs to do, by category. */
  byCategory: z.record(PromptCategory, z.strictObject({ done: z.int(), total: z.int() }))
    .optional(),
  /** Which candidate is being tested, from 1. */
  currentCandidate: z.int().optional(),
  candidates: z.int().default(0),
  /** Which round of writing it is in, from 1, where there are several. */
  round: z.int().optional(),
  /** From when its evaluation begins. */
  plan: TestPlan.optional(),
  /** Of older records: an evaluation that put the winner to the same prompts once more. */
  confirmation: z.strictObject({ evaluationId: z.string(), candidateId: z.string() }).optional(),
  untested: z.boolean().optional(),
  outcome: z.string().optional(),
  promotedCandidateId: z.string().optional(),
  /** The verdict allows its promotion, but the job does not promote. */
  promotableCandidateId: z.string().optional(),
  /** It looks better, but is not confirmed, or is below the thresholds: a person decides. */
  proposedCandidateId: z.string().optional(),
  failed: z.boolean().default(false),
});
export type JobTool = z.infer<typeof JobTool>;
/** The promotions of a job for one server, all together against the server's own descriptions. */
export const JointTest = z.strictObject({
  server: z.string(),
  tools: z.array(z.string()),
  before: SuccessCount,
  after: SuccessCount,
  /** As a fraction, with an interval of 95 %. */
  gain: MeasuredGain,
  /** Worse in all, or by more than the margin on prompts for the tools or on the others. */
  isHarmful: z.boolean(),
});
export type JointTest = z.infer<typeof JointTest>;

export const OptimizationJob = z.strictObject({
  id: z.string(),
  status: JobStatus,
  phase: JobPhase,
  options: JobOptions,
  /** The tools of the toolset that was equipped at its start, where they are shown as well. */
  beside: z.array(z.strictObject({ server: z.string(), tool: z.string() })).optional(),
  tools: z.array(JobTool),
  createdAt: Time,
  updatedAt: Time,
  endedAt: Time.optional(),
  /** The lease of the process that works on it. */
  owner: z.string().optional(),
  runs: z.int().default(0),
  /** Runs that were ever begun, if there is a budget: those in flight when a gateway is killed count. */
  begun: z.int().optional(),
  errors: z.int().default(0),
  cost: RunCost.default({ inputTokens: 0, outputTokens: 0 }),
  /** The part of the cost that prompts and candidates took to write. */
  writingCost: RunCost.optional(),
  joint: z.array(JointTest).optional(),
  note: z.string().optional(),
  by: z.enum(["caller", "person"]),
});
export type OptimizationJob = z.infer<typeof OptimizationJob>;

/** Goes round after a million and a half, which no millisecond sees. */
const COUNTED = 36 ** 4;
let made = 0;

/** An id that sorts by time, and those of one process and time in the order they were made. */
export function newId(prefix: string, now = Date.now()): string {
  made = (made + 1) % COUNTED;
  const time = now.toString(36).padStart(9, "0") + made.toString(36).padStart(4, "0");
  return `${prefix}_${time}${crypto.randomUUID().slice(0, 8)}`;
}
