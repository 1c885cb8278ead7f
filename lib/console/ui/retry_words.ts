import { TRYING_AGAIN } from "../../core/trying_again.ts";
import { formatSpan } from "./format.ts";

/** When something is tried again, as far as the reader's clock knows. */
export function retryWords(msLeft: number | undefined): string {
  if (msLeft === undefined) return TRYING_AGAIN;
  const seconds = Math.ceil(msLeft / 1000);
  return seconds > 0 ? `trying again in ${formatSpan(seconds * 1000)}` : "trying again";
}
