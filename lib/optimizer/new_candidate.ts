import { newId, type ToolCandidate } from "../core/optimization.ts";

export interface CandidateText extends Pick<ToolCandidate, "server" | "toolName" | "origin"> {
  description: string;
  example?: string | undefined;
}

/** A candidate with an id of its own, written at this moment. */
export function newCandidate({ example, ...text }: CandidateText): ToolCandidate {
  return {
    id: newId("cand"),
    ...text,
    ...(example === undefined ? {} : { example }),
    charCount: text.description.length,
    createdAt: new Date().toISOString(),
  };
}
