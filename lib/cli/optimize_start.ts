import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import type { NewJob, OptimizationClient } from "./optimization_client.ts";
import { estimateText } from "../surfaces/optimization/job_text.ts";
import { jobHint, jobText } from "./optimize_text.ts";
import { type Watching, watchJob } from "./optimize_watch.ts";
import { ask, isInteractive, print, printError, printJson } from "./terminal.ts";
import { oneLine } from "./toolset_text.ts";

/** Says what a job would take, asks, starts it, and watches it unless told to leave it alone. */
export async function startJob(
  command: string,
  request: NewJob,
  watching: Watching,
): Promise<number> {
  const { input, optimization } = watching;
  const asJson = input.flags.get("json") === true;
  const isAgreed = input.flags.get("yes") === true;
  if (!isAgreed && (asJson || !isInteractive())) throw cannotAsk(command, asJson);
  const start = await agreeOnJob(request, {
    optimization,
    say: asJson ? printError : print,
    ...(isAgreed ? {} : { ask: () => ask("Start it? It spends model time.") }),
  });
  if (input.flags.get("detach") !== true) return await watchJob(start, watching);
  const job = await start();
  if (asJson) printJson({ job });
  else print(jobText(job) + jobHint(job));
  return 0;
}

interface Agreement {
  optimization: Pick<OptimizationClient, "estimate" | "overview" | "start">;
  say(text: string): void;
  /** Missing where it was agreed to beforehand. */
  ask?: () => boolean;
}

/** Gives what starts the job. What it would take is said only where nothing stands against it. */
export async function agreeOnJob(
  request: NewJob,
  { optimization, say, ask }: Agreement,
): Promise<() => Promise<OptimizationJob>> {
  const estimate = `${oneLine(estimateText(await optimization.estimate(request)))}\n`;
  if (ask) {
    await requireEvaluator(optimization);
    say(estimate);
    if (!ask()) throw new GatewayError("ACCESS_DENIED", { message: "Nothing was started" });
    return () => optimization.start(request);
  }
  return async () => {
    const job = await optimization.start(request);
    say(estimate);
    return job;
  };
}

/** The start would refuse as well, but only after the question. */
async function requireEvaluator(optimization: Agreement["optimization"]): Promise<void> {
  const { enabled, evaluator: { problem } } = await optimization.overview();
  if (!enabled) throw new GatewayError("OPTIMIZATION_DISABLED");
  if (problem === null) return;
  throw new GatewayError("CANNOT_EVALUATE", {
    message: problem,
    recoverySteps: [
      "Install the claude CLI: npm install -g @anthropic-ai/claude-code",
      "Or start the gateway with ANTHROPIC_API_KEY set and --evaluator messages-api",
      "Or put the prompts to a model yourself, and report each result with " +
      "`deno task cli optimize record SERVER.TOOL CANDIDATE PROMPT`",
    ],
  });
}

function cannotAsk(command: string, asJson: boolean): GatewayError {
  const why = asJson ? "with --json it does not ask" : "there is no terminal to ask on";
  return configError(
    `${command} spends model time and asks first, but ${why}`,
    "Give --yes to start it without a question",
  );
}
