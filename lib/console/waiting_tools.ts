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
  const tools = new Map<string, WaitingTool>();
  for (const { server, tool, kind, state } of review.waiting(only)) {
    // What is in parentheses is a text of the server's and no tool.
    if (tool.startsWith("(") || (state !== "quarantined" && state !== "held")) continue;
    // Clients can be listed several versions of one tool.
    const key = JSON.stringify([server, tool, state]);
    if (!tools.has(key)) tools.set(key, { server, tool, kind, state });
  }
  return [...tools.values()];
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
