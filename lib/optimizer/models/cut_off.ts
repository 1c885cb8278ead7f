/** The model had not finished. */
const CUT_OFF = ["max_tokens", "model_context_window_exceeded", "pause_turn"];

/** Whether what a model said ends where it was stopped: what it would have done next is not known. */
export function isCutOff(stopReason: string | null | undefined): boolean {
  return CUT_OFF.includes(stopReason ?? "");
}
