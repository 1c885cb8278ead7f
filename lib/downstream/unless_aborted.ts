import type { CancelSignal } from "../core/cancellation.ts";

/** What the work gives, or the signal's reason as soon as that aborts; the work itself goes on. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: CancelSignal | undefined,
): Promise<T> {
  if (!signal) return await work;
  // Nobody listens any more when it fails after the abort.
  work.catch(() => {});
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
