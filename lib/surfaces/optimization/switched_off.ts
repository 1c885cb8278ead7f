import { GatewayError } from "../../core/errors.ts";

/** Says how to switch on what spends model time. */
export function switchedOff(attempt: string): GatewayError {
  return new GatewayError("OPTIMIZATION_DISABLED", {
    message: `Cannot ${attempt}: optimization is switched off, because it spends model time`,
    recoverySteps: [
      "Ask the owner to start the gateway with --enable-optimization",
      "Or to run `deno task cli optimize enable`",
      "Or to switch it on in the console's settings",
    ],
    hint: "Without it you can still propose candidates, save prompts and report results.",
    suggestedTools: ["propose_candidate", "save_golden_prompts", "record_eval_run"],
  });
}
