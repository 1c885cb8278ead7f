import type { Answer } from "../view.ts";

/** The response text of an answer; throws why there is none. */
export function textOf(answer: Answer): string {
  if ("error" in answer) throw answer.error;
  return answer.text;
}
