import {
  CANONICAL,
  MAX_DESCRIPTION,
  textHash,
  TextOrigin,
  type ToolCandidate,
  type ToolText,
} from "../../core/optimization.ts";
import { GatewayError } from "../../core/errors.ts";
import { didYouMean, nearestNames } from "../../core/text.ts";
import {
  MAX_PARAMETER_TEXT,
  MAX_PARAMETER_TEXTS,
  type OwnParameterTexts,
  type ParameterTexts,
  textOf,
  unknownParameters,
} from "../../core/tool_text.ts";
import { manipulationInText } from "../../optimizer/generation/description_rules.ts";
import { newCandidate } from "../../optimizer/generation/candidates.ts";
import { type OptimizationAdminOptions, resolveSubject, type WrittenTool } from "./subjects.ts";
import { MAX_EXAMPLE } from "./schemas.ts";

export type Proposal = WrittenTool & ToolText & { example?: string | undefined };

/** The maximum number of parameters that an error lists. */
const MOST_NAMED = 12;

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
  { description, parameters, example, ...written }: Proposal,
  origin: TextOrigin,
): Promise<{ candidate: ToolCandidate; isNew: boolean }> {
  const problem = proposalProblem({ description, parameters, example });
  if (problem !== undefined) throw notAccepted(problem);
  const { server, name, siblings, ...own } = resolveSubject(options, written);
  const text = textOf({ description, parameters: changedTexts(parameters, own.parameters) });
  const [unknown] = unknownParameters(text, own.parameters);
  if (unknown !== undefined) throw withoutParameter(`${server}.${name}`, unknown, own.parameters);
  // Blanks around a text tell a model nothing.
  const hashOf = (one: ToolText) => textHash({ ...one, description: one.description.trim() });
  if (hashOf(text) === hashOf({ description: own.canonicalDescription ?? "" })) {
    throw notAccepted(
      `Nothing was saved: the text is the server's own description, which results list as ` +
        `"${CANONICAL}"`,
    );
  }
  const existing = await options.candidates.list(server, name);
  const same = existing.find((candidate) => hashOf(candidate) === hashOf(text));
  if (same) return { candidate: same, isNew: false };
  // Such a text may do well in an evaluation; it is refused before runs are paid for.
  const why = await options.promotions.problemOf(server, text) ??
    manipulationInText(text, siblings.map((sibling) => sibling.name));
  if (why !== undefined) throw notAccepted(`Nothing was saved: ${why}`);
  const candidate = newCandidate({ server, toolName: name, ...text, example, origin });
  await options.candidates.save(candidate);
  options.onChange?.();
  return { candidate, isNew: true };
}

/** Trimmed, without those that are the server's own. */
function changedTexts(
  parameters: ParameterTexts | undefined,
  own: OwnParameterTexts,
): ParameterTexts {
  return Object.fromEntries(
    Object.entries(parameters ?? {}).map(([path, text]) => [path, text.trim()] as const)
      .filter(([path, text]) => !Object.hasOwn(own, path) || own[path] !== text),
  );
}

function proposalProblem(
  { description, parameters = {}, example = "" }: Pick<
    Proposal,
    "description" | "parameters" | "example"
  >,
): string | undefined {
  const { length } = description;
  if (description.trim() === "") {
    return `Candidate is empty: a description must have 1 to ${MAX_DESCRIPTION} characters`;
  }
  if (length > MAX_DESCRIPTION) {
    return `Candidate exceeds ${MAX_DESCRIPTION} character limit (got ${length})`;
  }
  const texts = Object.entries(parameters);
  if (texts.length > MAX_PARAMETER_TEXTS) {
    return `Candidate describes ${texts.length} parameters, at most ${MAX_PARAMETER_TEXTS} ` +
      "are allowed";
  }
  for (const [path, text] of texts) {
    if (text.trim() === "") {
      return `The description of the parameter "${path}" is empty: leave it out`;
    }
    if (text.length > MAX_PARAMETER_TEXT) {
      return `The description of the parameter "${path}" exceeds ${MAX_PARAMETER_TEXT} character limit ` +
        `(got ${text.length})`;
    }
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

function withoutParameter(
  tool: string,
  path: string,
  own: OwnParameterTexts,
): GatewayError {
  const paths = Object.keys(own);
  const named = paths.slice(0, MOST_NAMED).join(", ") + (paths.length > MOST_NAMED ? ", ..." : "");
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Nothing was saved: ${tool} has no parameter "${path}"`,
    ...didYouMean(nearestNames(path, paths)),
    recoveryAction: paths.length === 0
      ? "Leave out parameters: the tool has none whose description can be replaced"
      : `Name parameters by their path: ${named}`,
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
