const FIRST_MS = 500;
const MOST_MS = 60_000;

/** How long to wait before try number `attempt` (from 1): doubling, with jitter, up to a minute. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 20));
  return Math.round(full * (0.5 + random() / 2));
}
