import type { PromotedTool } from "../core/optimization.ts";
import type { OptimizationReport } from "../core/optimization_report.ts";
import { counted } from "../core/text.ts";
import type { Overview } from "../operations/optimization/schemas.ts";
import {
  gainOf,
  gainTextOf,
  percent,
  promptsIn,
  type RateGain,
  scoreText,
  settingTexts,
} from "../optimizer/evaluation/metrics.ts";
import { servedTexts } from "../optimizer/report.ts";
import { type FailedCalls, failedCallsText } from "../optimizer/traffic.ts";
import { listing, type Paint, table, warningsText } from "./terminal.ts";

type ReportedTool = OptimizationReport["tools"][number];

const SWITCHED_OFF =
  "Optimization is disabled. Enable it with `quartermaster optimize enable`. Promotions stay active.\n";

export function statusText({ enabled, evaluator, reports }: Overview, paint: Paint): string {
  const { kind, model, problem } = evaluator;
  const by = kind === null ? "" : `Evaluations by ${kind}${model === null ? "" : `, ${model}`}.\n`;
  const tools = reports.flatMap(({ serverName, tools }) =>
    tools.map((tool) => ({
      ...tool,
      name: `${serverName}.${tool.name}`,
      metrics: tool.status === "optimized" ? tool.after : tool.before,
    }))
  );
  const rows = listing(tools, {
    paint,
    empty: "No server has tools: see `quartermaster server list`.\n",
  }, {
    TOOL: ({ name }) => name,
    STATUS: ({ status }) => ({ color: status === "optimized" ? "green" : "gray", text: status }),
    DIRECT: ({ metrics }) => metrics && percent(metrics.direct),
    INDIRECT: ({ metrics }) => metrics && percent(metrics.indirect),
    NEGATIVE: ({ metrics }) => metrics && percent(metrics.negative),
    OVERALL: ({ metrics }) => metrics && percent(metrics.overall),
    "GAIN, POINTS": ({ status, gain, before, after }) =>
      status === "optimized"
        ? pointsCell(gain ?? gainOf(before?.overall, after?.overall))
        : undefined,
    PROMPTS: ({ prompts }) => prompts,
    NOTE: (tool) => toolNotes(tool).join("; "),
  });
  const counts = reports.map(({ serverName, optimizedCount, toolCount }) =>
    `${serverName}: ${optimizedCount} of ${counted(toolCount, "tool")} optimized\n`
  );
  return [
    enabled ? by : SWITCHED_OFF,
    problem === null || !enabled ? "" : warningsText([problem], paint),
    rows,
    ...counts,
  ].join("");
}

/** "+12 (5 to 19)": with the interval's ends. */
function pointsCell(gain: RateGain | undefined): string | undefined {
  if (gain === undefined) return undefined;
  const [mean, low, high] = [gain.mean, gain.low, gain.high]
    .map((share) => Math.round(100 * share) || 0) as [number, number, number];
  return `${mean > 0 ? "+" : ""}${mean} (${low} to ${high})`;
}

function toolNotes(tool: ReportedTool): string[] {
  const { depth, stale, enabled, reported, waitingCandidate, ...shown } = tool;
  return [
    ...(waitingCandidate === undefined
      ? []
      : [`candidate ${waitingCandidate} waits for your decision`]),
    ...(reported ? ["reported by a client"] : []),
    ...(depth === undefined ? [] : [depth]),
    ...settingTexts(shown),
    ...servedTexts(shown),
    ...(stale ? shown.staleReasons ?? ["stale"] : []),
    ...(enabled ? [] : ["off"]),
  ];
}

/** Days of calls that a terminal shows. */
const SHOWN_DAYS = 7;

/** Calls by clients, by day, and before and after the promotion. */
export function callsText(failed: FailedCalls): string {
  const { days } = failed;
  if (days.length === 0) return "";
  const summary = failedCallsText(failed);
  const rows = days.slice(0, SHOWN_DAYS)
    .map(({ day, calls, errors }) => [`  ${day}`, counted(calls, "call"), `${errors} failed`]);
  return `\nCalls by clients:\n${table(rows)}${summary === "" ? "" : `  ${summary}\n`}`;
}

/** "overall 9/15 (...) -> 14/15 (...), +33 points (...), thorough, 15 prompts" */
export function promotedNumbers(
  { metrics, baseline, verdict, depth, source }: PromotedTool,
): string | undefined {
  if (!metrics) return undefined;
  const gain = gainTextOf(verdict ?? {}, baseline?.overall, metrics.overall);
  const scores = [...(baseline ? [scoreText(baseline.overall)] : []), scoreText(metrics.overall)];
  return [
    `overall ${scores.join(" -> ")}`,
    ...(gain === undefined ? [] : [gain]),
    ...(source === "reported" ? ["reported by a caller"] : depth === undefined ? [] : [depth]),
    counted(promptsIn(metrics.overall), "prompt"),
  ].join(", ");
}
