import type { OptimizationReport } from "../core/optimization_report.ts";
import { counted } from "../core/text.ts";
import type { Overview } from "../operations/optimization/schemas.ts";
import { gainOf, percent, type RateGain, settingTexts } from "../optimizer/evaluation/metrics.ts";
import { servedTexts } from "../optimizer/report.ts";
import { listing, type Paint, warningsText } from "./terminal.ts";

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
