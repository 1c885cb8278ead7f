import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when the work has ended, after so long, or when the signal aborts; leaves no timer. */
export async function settledOrAfter(
  work: Promise<unknown> | undefined,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  const ending = new AbortController();
  const signals = [ending.signal, ...(signal ? [signal] : [])];
  const pause = sleep(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
  try {
    await (work ? Promise.race([work, pause]) : pause);
  } finally {
    ending.abort();
  }
}
