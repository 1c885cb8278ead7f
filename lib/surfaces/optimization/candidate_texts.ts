import { GatewayError } from "../../core/errors.ts";
import { MAX_DESCRIPTION, type Origin, type ToolCandidate } from "../../core/optimization.ts";
import { newCandidate } from "../../optimizer/new_candidate.ts";
import type { OptimizationAdminOptions } from "./admin_options.ts";
import { MAX_EXAMPLE } from "./limits.ts";
import { resolveSubject } from "./subject_lookup.ts";

export interface Proposal {
  server: string;
  tool: string;
  description: string;
  example?: string | undefined;
}

type Options = Pick<OptimizationAdminOptions, "candidates" | "subjects" | "canonicalTools">;

/** Keeps a description as a candidate; the same text is kept once. */
export async function proposeCandidate(
  options: Options,
  { server, tool, description, example }: Proposal,
  origin: Origin,
): Promise<ToolCandidate> {
  const problem = proposalProblem(description, example);
  if (problem !== undefined) throw notAccepted(problem);
  const { name, canonicalDescription } = resolveSubject(options, server, tool);
  if (description === canonicalDescription) {
    throw notAccepted("Candidate is the server's own description, word for word");
  }
  const existing = await options.candidates.list(server, name);
  const same = existing.find((candidate) => candidate.description === description);
  if (same) return same;
  const candidate = newCandidate({ server, toolName: name, description, example, origin });
  await options.candidates.save(candidate);
  return candidate;
}

function proposalProblem(description: string, example = ""): string | undefined {
  const { length } = description;
  if (description.trim() === "") {
    return `Candidate is empty: a description has 1 to ${MAX_DESCRIPTION} characters`;
  }
  if (length > MAX_DESCRIPTION) {
    return `Candidate exceeds ${MAX_DESCRIPTION} character limit (got ${length})`;
  }
  if (example.length > MAX_EXAMPLE) {
    return `Example exceeds ${MAX_EXAMPLE} character limit (got ${example.length})`;
  }
  return undefined;
}

function notAccepted(message: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message,
    recoveryAction: "Rewrite it and propose it again",
    recoverySteps: [
      `Write a description of 1 to ${MAX_DESCRIPTION} characters that says when to use the tool`,
      "Propose it again",
    ],
  });
}
