import type { JobOptions } from "../core/optimization.ts";

/**
 * Whether what does best is put to the same prompts once more before it is promoted: the best of
 * several is often the luckiest.
 */
export function hasConfirmation(
  { depth, autoPromote }: Pick<JobOptions, "depth" | "autoPromote">,
  candidates: number,
): boolean {
  return depth === "quick" && autoPromote && candidates > 1;
}

/** The descriptions that it is about: the best candidate and the server's own. */
export const CONFIRMED_DESCRIPTIONS = 2;
