import * as z from "zod";
import { ModelFamily } from "./model_family.ts";
import { CategoryScores, Depth, ModelResult, Verdict } from "./optimization.ts";

/** What runs cost, as far as they say so. */
const ReportedCost = {
  /** Of the runs that say what they cost; null if there are runs and none does. */
  costUsd: z.number().nullable(),
  /** There are runs that do not say what they cost, so that it was more. */
  costKnown: z.literal(false).optional(),
};

export const OptimizationReport = z.strictObject({
  serverName: z.string(),
  toolCount: z.int(),
  optimizedCount: z.int(),
  totalEvals: z.int(),
  /** Percentage points of overall success, as a fraction; null if nothing was promoted. */
  avgImprovement: z.number().nullable(),
  /** 95 %. */
  avgImprovementInterval: z.strictObject({ low: z.number(), high: z.number() }).optional(),
  ...ReportedCost,
  tools: z.array(z.strictObject({
    name: z.string(),
    status: z.enum(["optimized", "baseline", "unoptimized"]),
    enabled: z.boolean(),
    before: CategoryScores.optional(),
    after: CategoryScores.optional(),
    depth: Depth.optional(),
    /** Of what is promoted, as far as a test found it; the interval holds at every look. */
    gain: Verdict.shape.gain,
    /** Whose description it is over, if not the server's own. */
    gainOver: Verdict.shape.gainOver,
    /** Prompts behind the numbers: those that have runs. */
    prompts: z.int().optional(),
    /** How many tools of other servers were shown beside the server's own. */
    beside: z.int().optional(),
    setting: z.string().optional(),
    /** Each model's numbers, where several were asked. */
    models: z.array(ModelResult).optional(),
    promotedAt: z.string().optional(),
    /** Families of models that a description is promoted for alone. */
    families: z.array(ModelFamily).optional(),
    /** Live A/B: percent of sessions that get the promoted description. */
    share: z.int().optional(),
    /** The numbers are what a caller reported. */
    reported: z.literal(true).optional(),
    /** A candidate that looks better, and waits for a person's decision. */
    waitingCandidate: z.string().optional(),
    /** What it was promoted on has changed: the server's text, a sibling or the model. */
    stale: z.boolean(),
    /** In words. */
    staleReasons: z.array(z.string()).optional(),
    candidates: z.int(),
    goldenPrompts: z.int(),
    ...ReportedCost,
  })),
});
export type OptimizationReport = z.infer<typeof OptimizationReport>;
