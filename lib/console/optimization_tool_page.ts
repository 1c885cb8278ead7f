import { type TextSegment, wordDiff } from "../catalog/word_diff.ts";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import {
  type Evaluation,
  type Metrics,
  type OptimizationReport,
  type PromotionEvent,
  PromptCategory,
  type PromptCategory as Category,
} from "../core/optimization.ts";
import { nearestNames } from "../core/nearest.ts";
import { baselineOf } from "../optimizer/baseline.ts";
import type { ToolOptimizationDetail } from "../surfaces/optimization_admin.ts";
import { bestCandidate, type CandidateView, candidateViews } from "./optimization_candidates.ts";
import { type Comparison, comparisonOf } from "./optimization_comparison.ts";
import { type Problem, problemOf } from "./optimization_problem.ts";
import { type PromptsView, promptsView } from "./optimization_prompts.ts";
import { type MissingName, stretchAround } from "./server_page.ts";
import { type JobProgress, jobProgress } from "./ui/job_progress.ts";

export const TABS = ["result", "candidates", "prompts", "history"] as const;
export type Tab = typeof TABS[number];

export interface ToolOptimizationPage {
  server: string;
  tool: string;
  isOn: boolean;
  exists: boolean;
  isEnabled: boolean;
  status: OptimizationReport["tools"][number]["status"];
  /** What the server itself says; null where it says nothing. */
  canonical: string | null;
  promotion: ToolOptimizationDetail["promotion"];
  /** How the server's own description differs from what it was. */
  stale?: TextSegment[];
  tab: Tab;
  /** The candidate beside the server's own description. */
  comparison?: Comparison;
  /** How the server's own description does, in the evaluation that the report has it from. */
  baseline?: Metrics;
  candidates: CandidateView[];
  prompts: PromptsView;
  history: PromotionEvent[];
  job?: JobProgress;
  warnings: string[];
  /** Why the newest evaluation says nothing. */
  voided?: string;
  /** What a form has just done, by the name it has in the address. */
  done?: string;
  problem?: Problem;
  /** What was typed into a form that was not accepted, by field. */
  typed: Record<string, string>;
  /** All tools of its server, and those around this one. */
  siblings: string[];
  neighbors: string[];
}

type PageGateway = Pick<Gateway, "optimization" | "servers">;

const NEIGHBORS = 100;

export interface ToolPageInput {
  server: string;
  tool: string;
  query: URLSearchParams;
  /** A form that was not accepted, and why. */
  refused?: { fields: URLSearchParams; error: unknown };
}

/** Everything about one tool's descriptions, or the names that the reader may have meant. */
export async function toolOptimizationPage(
  gateway: PageGateway,
  { server, tool, query, refused }: ToolPageInput,
): Promise<ToolOptimizationPage | MissingName> {
  const admin = await gateway.optimization();
  const siblings = gateway.servers.tools(server).map(({ name }) => name);
  const found = await admin.detail(server, tool).catch((error) => {
    const isMissing = error instanceof GatewayError &&
      (error.code === "TOOL_NOT_FOUND" || error.code === "SERVER_NOT_FOUND");
    if (isMissing) return undefined;
    throw error;
  });
  if (found === undefined) return { missing: tool, nearest: nearestNames(tool, siblings) };
  const candidates = candidateViews(found);
  const shownId = query.get("candidate") ?? found.promotion?.candidateId ??
    bestCandidate(candidates)?.id;
  const shown = candidates.find(({ id }) => id === shownId);
  const stale = found.staleness;
  const own = baselineOf(
    found.evaluations,
    found.exists ? found.canonicalDescription ?? "" : undefined,
  );
  // What callers reported; evidence that holds is about the text of today.
  const baseline = own?.metrics ??
    found.candidates.find(({ evidence }) => evidence !== null && evidence.problem === undefined)
      ?.evidence?.baseline;
  const done = query.get("done");
  return {
    server,
    tool: found.tool,
    isOn: admin.enabled,
    exists: found.exists,
    isEnabled: found.enabled,
    status: found.promotion !== null ? "optimized" : own ? "baseline" : "unoptimized",
    canonical: found.canonicalDescription,
    promotion: found.promotion,
    ...(stale === null ? {} : { stale: wordDiff(stale.before ?? "", stale.now ?? "") }),
    tab: tabOf(query),
    ...(shown === undefined ? {} : { comparison: comparisonOf(shown, found, candidates) }),
    ...(baseline === undefined ? {} : { baseline }),
    candidates,
    prompts: await promptsView(admin, found, query.get("of") ?? shown?.id),
    history: found.history,
    ...(found.job === null ? {} : { job: jobProgress(found.job) }),
    warnings: found.prompts.length === 0 ? [] : found.warnings,
    ...voidOf(found.evaluations),
    ...(done === null ? {} : { done }),
    ...(refused === undefined ? {} : { problem: problemOf(refused.error) }),
    typed: refused === undefined ? prefilled(query) : Object.fromEntries(refused.fields),
    siblings,
    neighbors: stretchAround(siblings, Math.max(0, siblings.indexOf(found.tool)), NEIGHBORS),
  };
}

/** A prompt that comes with the address: a call that somebody judged, elsewhere in the console. */
function prefilled(query: URLSearchParams): Record<string, string> {
  const category = PromptCategory.safeParse(query.get("category"));
  const names = ["prompt", "notes", "expectedTool"] as const;
  return {
    ...Object.fromEntries(names.flatMap((name) => {
      const value = query.get(name);
      return value === null ? [] : [[name, value]];
    })),
    ...(category.success ? { category: category.data satisfies Category } : {}),
  };
}

function tabOf(query: URLSearchParams): Tab {
  const wanted = TABS.find((tab) => tab === query.get("tab"));
  return wanted ?? (query.has("prompt") || query.has("of") ? "prompts" : "result");
}

function voidOf([newest]: readonly Evaluation[]): { voided?: string } {
  return newest?.void === undefined ? {} : { voided: newest.void };
}
