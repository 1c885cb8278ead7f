import type { Depth } from "../core/optimization.ts";

/** How much is asked at each depth, unless a job says otherwise. */
export const DEPTHS: Record<
  Depth,
  {
    promptsPerCategory: number;
    /** How often each prompt is put to each description. */
    repeats: number;
    /** The share of prompts that what writes candidates never sees; where there are any, they alone decide. */
    heldOutShare: number;
  }
> = {
  quick: { promptsPerCategory: 5, repeats: 1, heldOutShare: 0 },
  thorough: { promptsPerCategory: 12, repeats: 3, heldOutShare: 0.4 },
};
