import { GatewayError } from "../../core/errors.ts";
import type { ToolCandidate } from "../../core/optimization.ts";

/** Why a candidate is not put in force, and what can be done about it. */
export function promotionRefused(
  { id, server, toolName }: ToolCandidate,
  why: string,
  by: "caller" | "person",
): GatewayError {
  const tool = `${server}.${toolName}`;
  const steps = by === "person"
    ? [
      "Promote it all the same with a reason, which is kept",
      `Or evaluate the candidate "${id}" of ${tool}`,
    ]
    : [
      `Evaluate the candidate "${id}" of ${tool}, if runs are missing`,
      `Or propose a better description for ${tool}`,
      "A person may promote it against this, in the console or on the command line",
    ];
  return new GatewayError("PROMOTION_REFUSED", {
    message: `Cannot promote "${id}" for ${tool}: ${why}`,
    recoveryAction: by === "person"
      ? `Give a reason to promote it all the same, or evaluate "${id}" of ${tool}`
      : `Evaluate "${id}" of ${tool}, or propose a better description`,
    recoverySteps: steps,
    suggestedTools: ["get_eval_results", "evaluate_candidate", "propose_candidate"],
  });
}
