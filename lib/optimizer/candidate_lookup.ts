import { GatewayError } from "../core/errors.ts";
import type { ToolCandidate } from "../core/optimization.ts";
import type { CandidatesRepository } from "../storage/candidates_repository.ts";

/** A candidate that somebody named by its id. */
export async function namedCandidate(
  candidates: Pick<CandidatesRepository, "find">,
  server: string,
  id: string,
): Promise<ToolCandidate> {
  const found = await candidates.find(server, id);
  if (found !== undefined) return found;
  throw new GatewayError("NOT_FOUND", {
    message: `There is no candidate "${id}" for server "${server}"`,
    recoveryAction: "Use the id of a candidate that is saved",
    recoverySteps: [
      "Look up the ids in the tool's results",
      "Or save the description as a candidate, which gives it an id",
    ],
    suggestedTools: ["get_eval_results", "propose_candidate"],
  });
}
