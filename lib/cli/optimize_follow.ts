import { GatewayError } from "../core/errors.ts";
import type { OptimizationJob } from "../core/optimization.ts";

const POLL_MS = 500;
/** A day: no job that is watched takes longer, and nothing is asked for ever. */
const MOST_POLLS = 172_800;
/** A gateway that is being restarted is back by then. */
const MOST_FAILURES = 60;

export interface FollowOptions {
  read(id: string): Promise<OptimizationJob>;
  /** Called with every state that was read. */
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
    await pause(pollMs, signal);
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => resolve();
  signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  });
}
