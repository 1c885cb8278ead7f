import { GatewayError } from "../core/errors.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import type { CommandInput } from "./command.ts";
import type { OptimizationClient } from "./optimization_client.ts";
import { followJob } from "./optimize_follow.ts";
import { currentTool, plainProgress, progressLine } from "./optimize_progress.ts";
import { jobHint, jobText, toolLine } from "./optimize_text.ts";
import {
  clearStatus,
  inert,
  painter,
  print,
  printError,
  printJson,
  showStatus,
  terminalWidth,
} from "./terminal.ts";

/** What shells say of a command that was stopped with Ctrl-C. */
const INTERRUPTED = 130;

/** What is said of a job that has completed, beside the job itself. */
export interface Addition {
  json: Record<string, unknown>;
  text: string;
}

export interface Watching {
  input: CommandInput;
  optimization: OptimizationClient;
  onCompleted?: ((job: OptimizationJob) => Promise<Addition>) | undefined;
}

/** Shows how a job goes until it has ended or waits; Ctrl-C pauses it, a second one just leaves. */
export async function watchJob(
  open: () => Promise<OptimizationJob>,
  { input, optimization, onCompleted }: Watching,
): Promise<number> {
  const asJson = input.flags.get("json") === true;
  const stop = new AbortController();
  const interrupt = () => {
    Deno.removeSignalListener("SIGINT", interrupt);
    stop.abort();
  };
  Deno.addSignalListener("SIGINT", interrupt);
  try {
    const job = await followJob(await open(), {
      read: (id) => optimization.job(id),
      onState: stateShower(input, asJson),
      signal: stop.signal,
    });
    clearStatus();
    if (stop.signal.aborted && job.status === "running") {
      await pauseJob(job, optimization);
      return INTERRUPTED;
    }
    const more = job.status === "completed" ? await onCompleted?.(job) : undefined;
    if (asJson) printJson({ job, ...more?.json });
    else print(jobText(job) + jobHint(job) + (more?.text ?? ""));
    return hasSucceeded(job) ? 0 : 1;
  } catch (error) {
    clearStatus();
    throw error;
  } finally {
    if (!stop.signal.aborted) Deno.removeSignalListener("SIGINT", interrupt);
  }
}

function hasSucceeded({ status, tools }: OptimizationJob): boolean {
  return status === "completed" && !tools.some(({ failed }) => failed) &&
    !tools.every(({ untested }) => untested);
}

async function pauseJob(job: OptimizationJob, optimization: OptimizationClient): Promise<void> {
  try {
    const paused = await optimization.change(job.id, "pause");
    printError(jobText(paused) + jobHint(paused));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    printError(inert(`Cannot pause job ${job.id}: ${error.message}\n`));
    printError(jobHint(job));
  }
}

/** Shows each state: a line that the next one replaces, or one that stays for every step. */
function stateShower({ env }: CommandInput, asJson: boolean): (job: OptimizationJob) => void {
  const paint = painter(env);
  const say = asJson ? printError : print;
  const finished = new Set<string>();
  let last = "";
  return (job) => {
    for (const tool of job.tools) {
      if (tool.phase !== "complete" || finished.has(tool.evaluationId)) continue;
      finished.add(tool.evaluationId);
      clearStatus();
      say(toolLine(tool, paint));
    }
    if (job.status !== "running" || currentTool(job)?.phase === "complete") return;
    if (showStatus(progressLine(job, terminalWidth(Deno.stderr) - 1))) return;
    const line = plainProgress(job);
    if (line !== last) printError(`${line}\n`);
    last = line;
  };
}
