import {
  CANONICAL,
  MAX_DESCRIPTION,
  TextOrigin,
  type ToolCandidate,
} from "../../core/optimization.ts";
import { GatewayError } from "../../core/errors.ts";
import { manipulationIn } from "../../optimizer/generation/description_rules.ts";
import { newCandidate } from "../../optimizer/generation/candidates.ts";
import { type OptimizationAdminOptions, resolveSubject, type WrittenTool } from "./subjects.ts";
import { MAX_EXAMPLE } from "./schemas.ts";

export type Proposal = WrittenTool & { description: string; example?: string | undefined };

/** Keeps a description as a candidate. Throws CONFLICT where there is one with the same text. */
export async function proposeCandidate(
  options: OptimizationAdminOptions,
  proposal: Proposal,
  origin: TextOrigin,
): Promise<ToolCandidate> {
  const { candidate, isNew } = await keepCandidate(options, proposal, origin);
  if (isNew) return candidate;
  const { id, server, toolName } = candidate;
  throw new GatewayError("CONFLICT", {
    message: `Nothing was saved: ${server}.${toolName} already has a candidate with this text, ` +
      `"${id}"`,
    recoveryAction: `Use the candidate "${id}", or write a different description`,
    recoverySteps: [
      `Evaluate or promote the candidate "${id}" of ${server}.${toolName}`,
      "Or propose a different description",
    ],
    next: [
      {
        label: "Evaluate the existing candidate",
        operation: "optimization.evaluate",
        input: { tool: `${server}.${toolName}`, candidateId: id },
      },
      { label: "Propose a different description", operation: "optimization.propose" },
    ],
  });
}

/** The same text is kept once: then this gives the one that there is. */
export async function keepCandidate(
  options: OptimizationAdminOptions,
  { description, example, ...written }: Proposal,
  origin: TextOrigin,
): Promise<{ candidate: ToolCandidate; isNew: boolean }> {
  const problem = proposalProblem(description, example);
  if (problem !== undefined) throw notAccepted(problem);
  const { server, name, canonicalDescription, siblings } = resolveSubject(options, written);
  // Blanks around a text tell a model nothing.
  const isSame = (text: string) => text.trim() === description.trim();
  if (isSame(canonicalDescription ?? "")) {
    throw notAccepted(
      `Nothing was saved: the text is the server's own description, which results list as ` +
        `"${CANONICAL}"`,
    );
  }
  const existing = await options.candidates.list(server, name);
  const same = existing.find((candidate) => isSame(candidate.description));
  if (same) return { candidate: same, isNew: false };
  // Such a text may do well in an evaluation; it is refused before runs are paid for.
  const why = await options.promotions.problemOf(server, description) ??
    manipulationIn(description, siblings.map((sibling) => sibling.name));
  if (why !== undefined) throw notAccepted(`Nothing was saved: ${why}`);
  const candidate = newCandidate({ server, toolName: name, description, example, origin });
  await options.candidates.save(candidate);
  options.onChange?.();
  return { candidate, isNew: true };
}

function proposalProblem(description: string, example = ""): string | undefined {
  const { length } = description;
  if (description.trim() === "") {
    return `Candidate is empty: a description must have 1 to ${MAX_DESCRIPTION} characters`;
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

/** Why a candidate is not put in force, and what can be done about it. */
export function promotionRefused(
  { id, server, toolName }: ToolCandidate,
  why: string,
  by: "caller" | "person",
): GatewayError {
  const tool = `${server}.${toolName}`;
  const steps = by === "person"
    ? [
      "Promote it anyway and give a reason for the history",
      `Or evaluate the candidate "${id}" of ${tool}`,
    ]
    : [
      `Evaluate the candidate "${id}" of ${tool}: the gateway then compares it with the ` +
      "description in force",
      `Or propose a better description for ${tool}`,
    ];
  return new GatewayError("PROMOTION_REFUSED", {
    message: `Cannot promote "${id}" for ${tool}: ${why}`,
    recoveryAction: by === "person"
      ? `Give a reason to promote it anyway, or evaluate "${id}" of ${tool}`
      : `Evaluate "${id}" of ${tool}, or propose a better description`,
    recoverySteps: steps,
    ...(by === "person" ? {} : {
      hint: "A person can promote it anyway, in the console or on the command line.",
    }),
    next: [
      ...(by === "caller" ? [] : [{
        label: "Promote it anyway",
        operation: "optimization.promote",
        input: { tool, candidateId: id, reason: "REASON" },
      }]),
      {
        label: "Evaluate it",
        operation: "optimization.evaluate",
        input: { tool, candidateId: id },
      },
      { label: "Propose a better description", operation: "optimization.propose" },
      { label: "See the results", operation: "optimization.results" },
    ],
  });
}
