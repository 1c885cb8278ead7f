import { setTimeout as sleep } from "node:timers/promises";
import type { RunCost } from "../core/optimization.ts";
import type { Evaluator, Observation, RunRequest } from "./evaluator.ts";
import { addCosts } from "./run_cost.ts";

const MOST_ATTEMPTS = 3;
const FIRST_DELAY_MS = 1_000;

export interface RetryOptions {
  /** Before the second try; twice as long before the third. 1 s unless told. */
  delayMs?: number | undefined;
  random?: () => number;
}

export interface Tried {
  observation: Observation;
  attempts: number;
  /** Of all tries, failed ones too. */
  cost: RunCost;
}

/** Tries again where another try may go well. Throws only where the request's signal aborts. */
export async function runWithRetries(
  evaluator: Evaluator,
  request: RunRequest,
  { delayMs = FIRST_DELAY_MS, random = Math.random }: RetryOptions = {},
): Promise<Tried> {
  const costs: RunCost[] = [];
  for (let attempts = 1;; attempts++) {
    const observation = await runOnce(evaluator, request);
    costs.push(observation.cost);
    const isFinal = observation.status === "ok" || observation.isLasting;
    if (isFinal || attempts >= MOST_ATTEMPTS) {
      return { observation, attempts, cost: addCosts(...costs) };
    }
    // Half of it by chance, so that runs that failed together do not come back together.
    const wait = delayMs * 2 ** (attempts - 1) * (0.5 + random() / 2);
    await sleep(wait, undefined, { signal: request.signal }).catch(() => {});
  }
}

async function runOnce(evaluator: Evaluator, request: RunRequest): Promise<Observation> {
  request.signal.throwIfAborted();
  const startedAt = performance.now();
  try {
    const observation = await evaluator.run(request);
    // What an ended process has shown so far says nothing.
    request.signal.throwIfAborted();
    return observation;
  } catch (error) {
    request.signal.throwIfAborted();
    return {
      status: "error",
      reason: `The evaluator failed: ${error instanceof Error ? error.message : String(error)}`,
      durationMs: performance.now() - startedAt,
      cost: { inputTokens: 0, outputTokens: 0 },
      isLasting: false,
    };
  }
}
