import type { JobTool, OptimizationJob } from "../core/optimization.ts";
import { oneLine } from "./toolset_text.ts";

const MOST_BAR = 30;
const LEAST_BAR = 6;

/** How far something is, in so many columns; empty where there are too few for it. */
export function progressBar(done: number, total: number, columns: number): string {
  const width = Math.min(MOST_BAR, columns - 2);
  if (width < LEAST_BAR || total <= 0) return "";
  const filled = Math.floor(width * Math.min(1, Math.max(0, done / total)));
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`;
}

/** The tool that is being worked on, else the next one, else the last. */
export function currentTool({ tools }: OptimizationJob): JobTool | undefined {
  return tools.find(({ phase }) => phase !== "complete" && phase !== "queued") ??
    tools.find(({ phase }) => phase !== "complete") ?? tools.at(-1);
}

/** What is being done to a tool, in words. */
export function stepWords(tool: JobTool): string {
  switch (tool.phase) {
    case "queued":
      return "Waiting";
    case "generating":
      return "Writing prompts and candidates";
    case "evaluating":
      return `${testingWords(tool)} (${percentDone(tool)}% complete)`;
    case "promoting":
      return "Deciding";
    case "complete":
      return oneLine(tool.outcome ?? "Done");
  }
}

/** A job in one line that fits a terminal: the current tool, a bar where there is room, and words. */
export function progressLine(job: OptimizationJob, columns: number): string {
  const tool = currentTool(job);
  if (!tool) return "";
  const name = oneLine(`${tool.server}.${tool.toolName}`);
  const words = [stepWords(tool), ...toolCount(job)].join(", ");
  if (tool.phase !== "evaluating") return cut(`${name}  ${words}`, columns);
  const count = `${tool.runsDone}/${tool.runsTotal}`;
  // Room for the widest that it will come to, so that the bar stays as long as it is; and for two
  // blanks after the name and the count, one after the bar.
  const widest = 2 * String(tool.runsTotal).length + 1 + words.replace(/\d+%/, "100%").length;
  const room = columns - name.length - widest - 5;
  const bar = progressBar(tool.runsDone, tool.runsTotal, room);
  return cut(`${name}  ${bar === "" ? "" : `${bar} `}${count}  ${words}`, columns);
}

/** The same where lines are kept: without a bar, and the same text until something has happened. */
export function plainProgress(job: OptimizationJob): string {
  const tool = currentTool(job);
  if (!tool) return "";
  const name = oneLine(`${tool.server}.${tool.toolName}`);
  const words = tool.phase === "evaluating"
    // A line for every tenth: a job has hundreds of runs.
    ? `${testingWords({ ...tool, currentCandidate: undefined })} (${
      Math.floor(percentDone(tool) / 10) * 10
    }% complete)`
    : stepWords(tool);
  return [`${name}: ${words}`, ...toolCount(job)].join(", ");
}

function testingWords({ currentCandidate, candidates }: JobTool): string {
  if (currentCandidate === undefined || candidates === 0) return "Testing";
  return `Testing candidate ${currentCandidate}/${candidates}`;
}

function percentDone({ runsDone, runsTotal }: JobTool): number {
  return runsTotal === 0 ? 0 : Math.min(100, Math.floor(100 * runsDone / runsTotal));
}

function toolCount({ tools }: OptimizationJob): string[] {
  if (tools.length < 2) return [];
  const done = tools.filter(({ phase }) => phase === "complete").length;
  return [`${done} of ${tools.length} tools done`];
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(1, columns - 1))}…`;
}
