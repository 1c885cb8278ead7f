import { CANONICAL } from "../core/optimization.ts";
import type { EvaluationInput } from "./evaluation.ts";

/** Flat names of other servers' tools that a model is shown beside the server's own, sorted. */
export function besideIn(
  { server, descriptions, shown }: Pick<EvaluationInput, "server" | "descriptions" | "shown">,
): string[] {
  const own = descriptions.find(({ candidateId }) => candidateId === CANONICAL);
  return shown(own?.description ?? "").filter((tool) => tool.server !== server)
    .map(({ name }) => name).sort();
}

/** "beside 12 tools of other servers" */
export function besideText(tools: number): string {
  return tools === 1 ? "beside 1 tool of another server" : `beside ${tools} tools of other servers`;
}
