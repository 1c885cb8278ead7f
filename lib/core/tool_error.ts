import type { GatewayError } from "./errors.ts";

/** An error as the result of a tool call: words for the model, and the same as data. */
export function toolErrorResult(error: GatewayError) {
  const body = error.toBody();
  const steps = body.recoverySteps.map((step, index) => `${index + 1}. ${step}`).join("\n");
  const hint = body.hint === undefined ? "" : `\n${body.hint}`;
  const text = `${body.errorType}: ${body.message}\n\nWhat to do:\n${steps}${hint}`;
  return { content: [{ type: "text", text }], structuredContent: { ...body }, isError: true };
}
