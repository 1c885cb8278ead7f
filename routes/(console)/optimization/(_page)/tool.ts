import {
  CANONICAL,
  CATEGORIES,
  type GoldenPrompt,
  PromptCategory,
  type SuccessCount,
} from "../../../../lib/core/optimization.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { missedText, scoreText, shortScore } from "../../../../lib/optimizer/evaluation/metrics.ts";
import type { RunSummary } from "../../../../lib/operations/optimization/schemas.ts";
import type {
  OptimizationAdmin,
  ToolOptimizationDetail,
} from "../../../../lib/operations/optimization_admin.ts";
import { wordDiff } from "../../../../lib/catalog/word_diff.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { baselineOf } from "../../../../lib/optimizer/report.ts";
import { bestCandidate, candidateViews, comparisonOf } from "./comparison.ts";
import { formError } from "../../../../lib/console/errors.ts";
import { type MissingName, missingName, stretchAround } from "../../../../lib/console/lists.ts";
import { optimizationPath } from "../../../../lib/console/ui/pages.ts";
import { jobProgress } from "../../../../lib/console/ui/jobs.ts";

export const TABS = ["result", "candidates", "prompts", "history"] as const;
export type Tab = typeof TABS[number];

export type ToolOptimizationPage = Exclude<
  Awaited<ReturnType<typeof toolOptimizationPage>>,
  MissingName
>;

const NEIGHBORS = 100;

export async function toolOptimizationPage(
  gateway: Pick<Gateway, "optimization" | "servers">,
  { server, tool, query, refused }: {
    server: string;
    tool: string;
    query: URLSearchParams;
    refused?: { fields: URLSearchParams; error: unknown };
  },
) {
  const admin = await gateway.optimization();
  const siblings = gateway.servers.tools(server).map(({ name }) => name);
  const found = await admin.detail({ server, tool }).catch((error) => {
    const isMissing = error instanceof GatewayError &&
      (error.code === "TOOL_NOT_FOUND" || error.code === "SERVER_NOT_FOUND");
    if (isMissing) return undefined;
    throw error;
  });
  if (found === undefined) return missingName(tool, siblings);
  const { staleness, exists, promotion, history, job } = found;
  const candidates = candidateViews(found);
  const shownId = query.get("candidate") ?? promotion?.candidateId ??
    bestCandidate(candidates)?.id;
  const shown = candidates.find(({ id }) => id === shownId);
  const canonical = found.canonicalDescription;
  const own = baselineOf(found.evaluations, exists ? canonical ?? "" : undefined);
  // What callers reported; evidence that holds is about the text of today.
  const baseline = own?.metrics ?? found.reported?.metrics ??
    found.candidates.find(({ evidence }) => evidence !== null && evidence.problem === undefined)
      ?.evidence?.baseline;
  const isReported = own === undefined && found.reported !== null;
  return {
    server,
    tool: found.tool,
    path: optimizationPath(server, found.tool),
    isOn: admin.enabled,
    exists,
    isEnabled: found.enabled,
    status: promotion !== null || found.familyPromotions.length > 0
      ? "optimized"
      : own || isReported
      ? "baseline"
      : "unoptimized",
    /** The numbers of the server's own description are what a client reported. */
    isReported,
    canonical,
    /** Those whose texts a candidate can replace, with what the server says. */
    parameters: Object.entries(found.canonicalParameters)
      .map(([path, text]) => ({ path, text: text ?? "" })),
    promotion,
    /** All that is promoted: for all, then for families. */
    served: [...(promotion ? [promotion] : []), ...found.familyPromotions],
    trials: found.trials,
    /** A text for the server's author that proposes the promoted description. */
    issue: promotion !== null && exists
      ? (await admin.patch({ server, tool: found.tool })).text
      : undefined,
    /** Why it is, and how the server's own description differs from what it was. */
    stale: staleness
      ? {
        reasons: staleness.reasons,
        segments: staleness.before === staleness.now
          ? undefined
          : wordDiff(staleness.before ?? "", staleness.now ?? ""),
        parameterDiffs: (staleness.parameters ?? []).map(({ path, before, now }) => ({
          path,
          segments: wordDiff(before ?? "", now ?? ""),
        })),
      }
      : undefined,
    tab: tabOf(query),
    comparison: shown && comparisonOf(shown, found, candidates),
    /** How the server's own description does, in the evaluation that the report has it from. */
    baseline,
    candidates,
    prompts: await promptsView(admin, found, query.get("of") ?? shown?.id),
    suspects: found.suspects,
    history,
    job: job ? jobProgress(job) : undefined,
    warnings: found.prompts.length === 0 ? [] : found.warnings,
    voided: found.evaluations[0]?.void,
    /** What a form has just done, by the name it has in the address. */
    done: query.get("done") ?? undefined,
    problem: refused && formError(refused.error),
    /** What was typed into a form that was not accepted, by field. */
    typed: refused === undefined ? prefilled(query) : Object.fromEntries(refused.fields),
    /** All tools of its server, and those around this one. */
    siblings,
    neighbors: stretchAround(siblings, Math.max(0, siblings.indexOf(found.tool)), NEIGHBORS),
  };
}

/** A prompt that comes with the address: a call that somebody judged, elsewhere in the console. */
function prefilled(query: URLSearchParams): Record<string, string> {
  const names = ["prompt", "notes", "expectedTool", "category"];
  return Object.fromEntries(
    [...query].filter(([name, value]) =>
      names.includes(name) && (name !== "category" || PromptCategory.safeParse(value).success)
    ),
  );
}

function tabOf(query: URLSearchParams): Tab {
  const wanted = TABS.find((tab) => tab === query.get("tab"));
  return wanted ?? (query.has("prompt") || query.has("of") ? "prompts" : "result");
}

export type RunView = ReturnType<typeof runView>;
export type PromptView = ReturnType<typeof promptView>;

/** `of`: whose runs are shown, a candidate's id or the server's own. */
async function promptsView(
  admin: Pick<OptimizationAdmin, "results">,
  detail: ToolOptimizationDetail,
  of = CANONICAL,
) {
  const { server, tool, prompts } = detail;
  const [result] = await admin.results.list({ server, tool, candidateId: of }).catch((error) => {
    // No run yet, or no such candidate.
    if (error instanceof GatewayError && error.httpStatus < 500) return [];
    throw error;
  });
  const byPrompt = Map.groupBy(result?.runs ?? [], ({ promptId }) => promptId);
  const judgedAt = result?.evidence?.time ?? "";
  const views = prompts.map((prompt) =>
    promptView(prompt, byPrompt.get(prompt.id) ?? [], judgedAt)
  );
  const all = scoreOf(views);
  return {
    of,
    groups: CATEGORIES.map((category) => {
      const own = views.filter(({ prompt }) => prompt.category === category);
      return { category, score: shortScore(scoreOf(own)), prompts: own };
    }),
    total: prompts.length,
    rate: all.total === 0 ? undefined : { short: shortScore(all), text: scoreText(all) },
  };
}

function promptView(prompt: GoldenPrompt, found: readonly RunSummary[], judgedAt: string) {
  // It was edited after it was put to the description.
  const isChanged = found.length > 0 && prompt.createdAt > judgedAt;
  const runs = isChanged ? [] : found.map((run) => runView(run, prompt));
  const counted = runs.filter(({ state }) => state !== "error");
  const isPassed = counted.every(({ state }) => state === "passed");
  const state = counted.length === 0 ? undefined : isPassed ? "passed" : "failed";
  return { prompt, runs, state, isChanged } as const;
}

function scoreOf(views: readonly PromptView[]): SuccessCount {
  const counted = views.map(({ runs }) => runs.filter(({ state }) => state !== "error"))
    .filter((runs) => runs.length > 0);
  const runs = counted.flat();
  return {
    correct: runs.filter(({ state }) => state === "passed").length,
    total: runs.length,
    ...(counted.length < runs.length ? { prompts: counted.length } : {}),
  };
}

function runView(run: RunSummary, { expectedBehavior }: GoldenPrompt) {
  const { status, correct, toolCalled, otherTools, error, reasoning, missed } = run;
  const note = run.arguments === "invalid" || run.arguments === "unexpected"
    ? ARGUMENTS[run.arguments]
    : missed && ` (${missedText({ [missed]: 1 }).slice(2)})`;
  const isError = status === "error";
  return {
    state: isError ? "error" : correct ? "passed" : "failed",
    /** "called", "not called", "called find_loans instead" */
    text: isError
      ? `not counted: ${error ?? "the run failed"}`
      : callText(toolCalled, otherTools, expectedBehavior.shouldCallTool) + (note ?? ""),
    reasoning: reasoning || undefined,
    at: Date.parse(run.timestamp),
    seconds: run.durationMs === 0 ? undefined : `${(run.durationMs / 1_000).toFixed(1)} s`,
  } as const;
}

const ARGUMENTS = {
  invalid: ", with arguments that do not fit the schema",
  unexpected: ", with other arguments than expected",
};

function callText(toolCalled: boolean, others: string[], shouldCall: boolean): string {
  const named = others.join(", ");
  if (toolCalled) {
    const also = named === "" ? "" : `, and ${named}`;
    return `${shouldCall ? "called" : "called, but should not have been"}${also}`;
  }
  if (named === "") return shouldCall ? "no tool called" : "not called";
  return shouldCall ? `called ${named} instead` : `not called; ${named} was`;
}
