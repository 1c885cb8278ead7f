import type { Gateway } from "../compose.ts";
import type { ReviewItem } from "../surfaces/review_item.ts";
import type { ToolWait } from "./ui/tool_wait.ts";

/** A tool that clients do not get as its server lists it, until somebody has decided. */
export interface WaitingTool {
  server: string;
  tool: string;
  kind: ReviewItem["kind"];
  state: ToolWait;
}

type WithReview = Pick<Gateway, "review">;

/** The tools of all servers that wait for somebody to decide, or of one alone. */
export function waitingTools({ review }: WithReview, only?: string): WaitingTool[] {
  // The list compares definitions, which takes time: most often there is nothing to compare.
  const { held, quarantined } = review.count();
  if (held + quarantined === 0) return [];
  return review.list().items.flatMap(({ server, tool, kind, state }) => {
    // What is in parentheses is a text of the server's and no tool.
    const isMeant = (only === undefined || server === only) && !tool.startsWith("(");
    return isMeant && (state === "quarantined" || state === "held")
      ? [{ server, tool, kind, state }]
      : [];
  });
}

/** Tells what a tool waits for; what looks like an attack counts more than a change. */
export function waitsFor(waiting: readonly WaitingTool[]) {
  const states = new Map<string, ToolWait>();
  for (const { server, tool, state } of waiting) {
    const key = JSON.stringify([server, tool]);
    if (states.get(key) !== "quarantined") states.set(key, state);
  }
  return (server: string, tool: string): { wait?: ToolWait } => {
    const wait = states.get(JSON.stringify([server, tool]));
    return wait === undefined ? {} : { wait };
  };
}
