import type {
  JobTool,
  OptimizationJob,
  OptimizationReport,
  RunCost,
} from "../core/optimization.ts";
import { jobOutcome } from "../core/job_outcome.ts";
import { besideText } from "../optimizer/beside.ts";
import { percent } from "../optimizer/metrics.ts";
import { RESTART_NOTE } from "../optimizer/report.ts";
import { costText, knownCost } from "../optimizer/run_cost.ts";
import type { Overview } from "./optimization_answers.ts";
import { stepWords } from "./optimize_progress.ts";
import { type painter, table } from "./terminal.ts";
import { countOf, oneLine, warningsText } from "./toolset_text.ts";

export type Paint = ReturnType<typeof painter>;
type ReportedTool = OptimizationReport["tools"][number];

export const SWITCHED_OFF =
  "Optimization is off: switch it on with `deno task cli optimize enable`. What was promoted stays in force.\n";

/** Each server with a dot for every tool, and how each tool does. */
export function statusText({ enabled, evaluator, reports }: Overview, paint: Paint): string {
  const { kind, model, problem } = evaluator;
  const by = kind === null ? "" : `Evaluations by ${kind}${model === null ? "" : `, ${model}`}.\n`;
  return [
    enabled ? by : SWITCHED_OFF,
    ...(problem === null || !enabled
      ? []
      : [`${paint("yellow", "Warning:")} ${oneLine(problem)}\n`]),
    ...(reports.length === 0 ? ["No server has tools: see `deno task cli server list`.\n"] : []),
    ...reports.map((report) => `\n${serverText(report, paint)}`),
  ].join("").replace(/^\n/, "");
}

function serverText(
  { serverName, tools, optimizedCount, toolCount }: OptimizationReport,
  paint: Paint,
) {
  const dots = paint("green", "●".repeat(optimizedCount)) + "○".repeat(toolCount - optimizedCount);
  const rows = tools.map((tool) => [
    `  ${tool.status === "optimized" ? paint("green", "✓") : "○"} ${oneLine(tool.name)}`,
    ...scoreCells(tool),
  ]);
  return `${serverName}  ${dots}  ${optimizedCount}/${countOf(toolCount)} optimized\n${
    table(evenly(rows))
  }`;
}

function scoreCells(tool: ReportedTool): string[] {
  const metrics = tool.status === "optimized" ? tool.after : tool.before;
  const notes = [
    ...(tool.status === "baseline" ? ["kept as the server has it"] : []),
    ...(tool.depth === undefined ? [] : [evidenceNote(tool)]),
    ...(tool.stale ? ["the server's own description has changed since"] : []),
    ...(tool.enabled ? [] : ["off"]),
  ];
  if (!metrics) {
    const state = tool.status === "optimized" ? "Promoted without numbers" : "Not optimized";
    return [state, "", "", notes.join("; ")];
  }
  return [
    `Direct: ${percent(metrics.direct)}`,
    `Indirect: ${percent(metrics.indirect)}`,
    `Neg: ${percent(metrics.negative)}`,
    notes.join("; "),
  ];
}

function evidenceNote({ depth, prompts = 0, beside }: ReportedTool): string {
  const others = beside === undefined ? "" : `, ${besideText(beside)}`;
  return `${depth}, ${promptsText(prompts)}${others}`;
}

export function promptsText(count: number): string {
  return count === 1 ? "1 prompt" : `${count} prompts`;
}

export function runsText(count: number): string {
  return count === 1 ? "1 run" : `${count} runs`;
}

/** What runs cost: "at least $0.25" where a part of it is not known, and nothing where all is not. */
export function spentText({ costUsd, costKnown }: RunCost): string {
  return costUsd === undefined ? "" : costText(knownCost([{ costUsd, costKnown }]));
}

/** What came of one tool of a job. */
export function toolLine(tool: JobTool, paint: Paint): string {
  const mark = tool.failed
    ? paint("red", "✗")
    : tool.untested
    ? paint("yellow", "!")
    : tool.promotedCandidateId === undefined
    ? "○"
    : paint("green", "✓");
  return `${mark} ${oneLine(`${tool.server}.${tool.toolName}`)}  ${stepWords(tool)}\n`;
}

/** How a job stands, in one or two lines. */
export function jobText(job: OptimizationJob): string {
  const { id, status, tools, runs, errors, cost, note } = job;
  const outcome = jobOutcome(job);
  const done = outcome?.tested ?? tools.filter(({ phase }) => phase === "complete").length;
  const promoted = tools.filter((tool) => tool.promotedCandidateId !== undefined).length;
  const how = outcome === undefined ? STATUS[status] : `has ended (${outcome.words})`;
  const facts = [
    `${done} of ${countOf(tools.length)} done`,
    `${promoted} promoted`,
    errors === 0 ? runsText(runs) : `${runsText(runs)} (${errors} went wrong and do not count)`,
    ...(cost.costUsd === undefined ? [] : [spentText(cost)]),
  ];
  // Why nothing came of a tool stands in the tool's own line.
  const why = note === undefined || outcome ? "" : `${oneLine(note)}\n`;
  return `Job ${id} ${how}: ${facts.join(", ")}\n${why}`;
}

const STATUS: Record<OptimizationJob["status"], string> = {
  running: "is running",
  paused: "is paused",
  completed: "has completed",
  cancelled: "was cancelled",
  failed: "has failed",
};

/** What can be done with a job as it is, or should be known of what it has done. */
export function jobHint({ id, status, tools }: OptimizationJob): string {
  if (status === "running") {
    return `Watch it with \`deno task cli optimize jobs ${id} --follow\`; ` +
      `\`optimize pause ${id}\` and \`optimize cancel ${id}\` stop it.\n`;
  }
  if (status !== "paused") {
    const hasPromoted = tools.some((tool) => tool.promotedCandidateId !== undefined);
    return hasPromoted ? `${RESTART_NOTE}\n` : "";
  }
  return `Resume it with \`deno task cli optimize resume ${id}\`, ` +
    `or cancel it with \`deno task cli optimize cancel ${id}\`.\n`;
}

/** All rows with as many cells as the longest. */
function evenly(rows: string[][]): string[][] {
  const most = Math.max(0, ...rows.map((row) => row.length));
  return rows.map((row) => [...row, ...Array<string>(most - row.length).fill("")]);
}

/** Warnings, whether they say that they are or not. */
export function notesText(warnings: readonly string[], paint: Paint): string {
  return warningsText(warnings.map((warning) => warning.replace(/^Warning: /, "")), paint);
}
