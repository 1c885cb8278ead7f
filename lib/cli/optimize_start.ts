import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import type { NewJob } from "./optimization_client.ts";
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
  const isAgreed = input.flags.get("yes") === true || !isInteractive();
  if (!isAgreed && asJson) {
    throw configError(
      `${command} does not ask with --json`,
      "Give --yes to start without a question",
    );
  }
  const estimate = oneLine(estimateText(await optimization.estimate(request)));
  (asJson ? printError : print)(`${estimate}\n`);
  if (!isAgreed && !ask("Start it? It spends model time.")) {
    throw new GatewayError("ACCESS_DENIED", { message: "Nothing was started" });
  }
  if (input.flags.get("detach") !== true) {
    return await watchJob(() => optimization.start(request), watching);
  }
  const job = await optimization.start(request);
  if (asJson) printJson({ job });
  else print(jobText(job) + jobHint(job));
  return 0;
}
