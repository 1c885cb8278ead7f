import { GatewayError } from "../../core/errors.ts";
import {
  CANONICAL,
  MAX_DESCRIPTION,
  type Origin,
  type ToolCandidate,
} from "../../core/optimization.ts";
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

/** Keeps a description as a candidate. Throws CONFLICT where there is one with the same text. */
export async function proposeCandidate(
  options: Options,
  proposal: Proposal,
  origin: Origin,
): Promise<ToolCandidate> {
  const { candidate, isNew } = await keepCandidate(options, proposal, origin);
  if (isNew) return candidate;
  const { id, server, toolName } = candidate;
  throw new GatewayError("CONFLICT", {
    message: `Nothing was saved: ${server}.${toolName} has a candidate with this text already, ` +
      `"${id}"`,
    recoveryAction: `Use the candidate "${id}", or write another text`,
    recoverySteps: [
      `Evaluate or promote the candidate "${id}" of ${server}.${toolName}`,
      "Or propose a text that says something else",
    ],
    suggestedTools: ["evaluate_candidate", "propose_candidate"],
  });
}

/** The same text is kept once: then this gives the one that there is. */
export async function keepCandidate(
  options: Options,
  { server, tool, description, example }: Proposal,
  origin: Origin,
): Promise<{ candidate: ToolCandidate; isNew: boolean }> {
  const problem = proposalProblem(description, example);
  if (problem !== undefined) throw notAccepted(problem);
  const { name, canonicalDescription } = resolveSubject(options, server, tool);
  // Blanks around a text tell a model nothing.
  const isSame = (text: string) => text.trim() === description.trim();
  if (isSame(canonicalDescription ?? "")) {
    throw notAccepted(
      `Candidate is the server's own description, word for word, which is "${CANONICAL}" in ` +
        "results: nothing was saved",
    );
  }
  const existing = await options.candidates.list(server, name);
  const same = existing.find((candidate) => isSame(candidate.description));
  if (same) return { candidate: same, isNew: false };
  const candidate = newCandidate({ server, toolName: name, description, example, origin });
  await options.candidates.save(candidate);
  return { candidate, isNew: true };
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
