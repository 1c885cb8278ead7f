import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../core/errors.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { OPERATIONS } from "../operations/all.ts";
import { commandName } from "../operations/cli.ts";
import { type Operation, parseInput } from "../operations/operation.ts";
import { estimateText } from "../operations/optimization/outcomes.ts";
import type { JobEstimate, Overview } from "../operations/optimization/schemas.ts";
import type { CommandInput } from "./command.ts";
import { progressMessage } from "../optimizer/jobs/progress.ts";
import { hasSucceeded, jobText, toolLine } from "./job_commands.ts";
import { mustAsk } from "./operation_command.ts";
import type { OperationTarget } from "./operation_target.ts";
import {
  ask,
  askUntilCtrlC,
  clearStatus,
  inert,
  isInteractive,
  painter,
  print,
  printError,
  showStatus,
  terminalLine,
} from "./terminal.ts";

const INTERRUPTED = 130;

interface JobOutput {
  job: OptimizationJob;
  estimate?: JobEstimate;
}

export interface FollowedRun {
  operation: Operation;
  given: Record<string, unknown>;
  input: CommandInput;
  target: Pick<OperationTarget, "run">;
}

export interface FollowedOutcome {
  /** Missing if the person stopped waiting. */
  output?: Partial<JobOutput>;
  exitCode: number;
  isFollowed: boolean;
}

/**
 * Runs an operation that has a job. One that starts its job tells the estimate and asks first, and
 * follows it unless --detach; one that only shows its job follows it with --follow.
 */
export async function runFollowed(run: FollowedRun): Promise<FollowedOutcome> {
  const { operation, given, input: { flags } } = run;
  const isStart = operation.effect !== "read";
  parseInput(operation, given);
  // Nothing is spent on an estimate.
  if (given.dryRun === true) return { output: await runHere(run), exitCode: 0, isFollowed: false };
  const asks = isStart && mustAsk(commandName(operation), run.input);
  const asker = asks ? () => ask("Start the job? It spends model time.") : undefined;
  const open = isStart ? await agreeOnJob(run, asker) : () => runHere(run);
  const isFollowed = isStart ? flags.get("detach") !== true : flags.get("follow") === true;
  if (isFollowed) return await watchJob(open, run);
  return { output: await open(), exitCode: 0, isFollowed };
}

async function runHere({ operation, given, target }: FollowedRun): Promise<JobOutput> {
  return await target.run(operation, given);
}

/** Gives what starts the job. The estimate is told only if nothing stands against the start. */
export async function agreeOnJob(
  run: FollowedRun,
  ask: (() => boolean) | undefined,
  say = run.input.flags.get("json") === true ? printError : print,
): Promise<() => Promise<JobOutput>> {
  const tell = (estimate: JobEstimate) => say(`${terminalLine(estimateText(estimate))}\n`);
  const { target, operation: { follow }, given } = run;
  if (!ask) {
    return async () => {
      const output = await runHere(run);
      if (output.estimate) tell(output.estimate);
      return output;
    };
  }
  const { estimate } = follow ?? {};
  if (estimate) {
    const wanted: JobEstimate = await target.run(
      OPERATIONS.get(estimate.operation)!,
      estimate.input(given),
    );
    await requireEvaluator(target);
    tell(wanted);
  }
  if (!ask()) throw new GatewayError("ACCESS_DENIED", { message: "Nothing was started" });
  return () => runHere(run);
}

/** The start would refuse as well, but only after the question. */
async function requireEvaluator(target: FollowedRun["target"]): Promise<void> {
  const { enabled, evaluator: { problem } }: Overview = await target.run(
    OPERATIONS.get("optimization.status")!,
    {},
  );
  if (!enabled) {
    throw new GatewayError("OPTIMIZATION_DISABLED", {
      next: [{ label: "Enable it", operation: "optimization.enable" }],
    });
  }
  if (problem === null) return;
  throw new GatewayError("CANNOT_EVALUATE", {
    message: problem,
    recoverySteps: [
      "Install the claude CLI: npm install -g @anthropic-ai/claude-code",
      "Or start the gateway with ANTHROPIC_API_KEY set and --evaluator messages-api",
      "Or send the prompts to a model yourself, and report each result with " +
      "`quartermaster optimize record TOOL CANDIDATE PROMPT`",
    ],
  });
}

/** Shows how a job goes until it has ended or is paused; a second Ctrl-C just leaves. */
async function watchJob(
  open: () => Promise<JobOutput>,
  run: FollowedRun,
): Promise<FollowedOutcome> {
  const { operation: { follow }, given, input, target } = run;
  const stop = new AbortController();
  const interrupt = () => {
    Deno.removeSignalListener("SIGINT", interrupt);
    stop.abort();
  };
  Deno.addSignalListener("SIGINT", interrupt);
  try {
    const opened = await open();
    const job = await followJob(opened.job, {
      read: async (jobId) => (await target.run(OPERATIONS.get("job.show")!, { jobId })).job,
      onState: stateShower(input),
      signal: stop.signal,
    });
    clearStatus();
    if (stop.signal.aborted && job.status === "running") {
      await stopJob(job, run);
      return { exitCode: INTERRUPTED, isFollowed: true };
    }
    const output = { ...opened, job };
    const exitCode = hasSucceeded(job) ? 0 : 1;
    const { result } = follow ?? {};
    if (!result || job.status !== "completed") return { output, exitCode, isFollowed: true };
    const wanted = result.input(output, given);
    const found = await target.run(OPERATIONS.get(result.operation)!, wanted);
    return { output: result.add(output, found as never, given), exitCode, isFollowed: true };
  } finally {
    clearStatus();
    if (!stop.signal.aborted) Deno.removeSignalListener("SIGINT", interrupt);
  }
}

/** Asks whether to cancel the job or leave it running; pauses it if nobody can be asked. */
async function stopJob(job: OptimizationJob, { input, target }: FollowedRun): Promise<void> {
  const canAsk = isInteractive() && input.flags.get("json") !== true;
  if (canAsk && !await askUntilCtrlC(`Cancel job ${job.id}? Otherwise it keeps running.`)) {
    return printError(jobText(job));
  }
  const action = canAsk ? "cancel" : "pause";
  try {
    const stopped: JobOutput = await target.run(OPERATIONS.get(`job.${action}`)!, {
      jobId: job.id,
    });
    printError(jobText(stopped.job));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    printError(inert(`Cannot ${action} job ${job.id}: ${error.message}\n`) + jobText(job));
  }
}

/** Shows each state: a line that the next one replaces, or one that stays for every step. */
function stateShower({ env, flags }: CommandInput): (job: OptimizationJob) => void {
  const paint = painter(env);
  const say = flags.get("json") === true ? printError : print;
  const finished = new Set<string>();
  let last = "";
  return (job) => {
    for (const tool of job.tools) {
      if (tool.phase !== "complete" || finished.has(tool.evaluationId)) continue;
      finished.add(tool.evaluationId);
      clearStatus();
      say(toolLine(tool, paint));
    }
    if (job.status !== "running" || job.tools.every(({ phase }) => phase === "complete")) return;
    const line = terminalLine(progressMessage(job));
    if (showStatus(progressBar(job) + line)) return;
    // A line for every tenth: a job has hundreds of runs.
    const step = line.replace(/\d%/, "%");
    if (step !== last) printError(`${line}\n`);
    last = step;
  };
}

const BAR_COLUMNS = 20;

/** How far the runs of the current tool are; empty while it has none to make. */
export function progressBar({ tools }: Pick<OptimizationJob, "tools">): string {
  const { runsDone = 0, runsTotal = 0 } = tools.find(({ phase }) => phase === "evaluating") ?? {};
  if (runsTotal === 0) return "";
  const filled = Math.floor(BAR_COLUMNS * Math.min(1, runsDone / runsTotal));
  const bar = "#".repeat(filled) + "-".repeat(BAR_COLUMNS - filled);
  return `[${bar}] ${runsDone}/${runsTotal}  `;
}

const POLL_MS = 500;
/** A day: no job that is watched takes longer, and nothing is asked for ever. */
const MOST_POLLS = 172_800;
/** A gateway that is being restarted is back by then. */
const MOST_FAILURES = 60;

export interface FollowOptions {
  read(id: string): Promise<OptimizationJob>;
  onState(job: OptimizationJob): void;
  /** No longer watched from then on; the job itself goes on. */
  signal: AbortSignal;
  pollMs?: number;
  mostPolls?: number;
  mostFailures?: number;
}

/** Watches a job until it has ended or waits; answers how it was last seen. */
export async function followJob(
  job: OptimizationJob,
  { read, onState, signal, ...limits }: FollowOptions,
): Promise<OptimizationJob> {
  const { pollMs = POLL_MS, mostPolls = MOST_POLLS, mostFailures = MOST_FAILURES } = limits;
  let seen = job;
  let failures = 0;
  onState(seen);
  for (let polls = 0; polls < mostPolls; polls++) {
    if (seen.status !== "running" || signal.aborted) return seen;
    await sleep(pollMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return seen;
    try {
      seen = await read(job.id);
      failures = 0;
    } catch (error) {
      if (!isAway(error) || ++failures >= mostFailures) throw error;
      continue;
    }
    onState(seen);
  }
  return seen;
}

function isAway(error: unknown): boolean {
  return error instanceof GatewayError &&
    (error.code === "SERVER_DISCONNECTED" || error.code === "TIMEOUT");
}
