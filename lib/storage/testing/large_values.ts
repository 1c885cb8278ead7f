import { keys } from "../keys.ts";
import { textOfBytes } from "./texts.ts";

/** In one entry, in one commit with its parts, and written ahead of its commit. */
const SIZES = [30, 100_000, 900_000, 500_000, 2_000_000];

export const LARGE = keys.settings("large");
/** Always changed together with the large one. */
export const SMALL = keys.settings("small");

/** The text that belongs to a number. */
export function largeValue(n: number): string {
  return n + textOfBytes(SIZES[n % SIZES.length] ?? 0, n);
}
