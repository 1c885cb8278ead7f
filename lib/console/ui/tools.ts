import * as z from "zod/mini";
import type { ToolState } from "../../catalog/toolsets/toolset_tools.ts";
import { MANY_TOOLS } from "../../core/client.ts";
import { formatCount } from "./format.ts";

export const MAX_TOOLS = 2_000;

export const PickedTool = z.object({
  namespacedName: z.string(),
  server: z.string(),
  name: z.string(),
  summary: z.string(),
  /** Undefined until it has been counted. */
  tokens: z.optional(z.number()),
  note: z.optional(z.string()),
});
export type PickedTool = z.infer<typeof PickedTool>;

/** `builtins`: how many of the gateway's own tools clients at /mcp are listed as well. */
export function sizeOf(tools: readonly PickedTool[], builtins: number) {
  return {
    count: tools.length,
    listed: tools.length + builtins,
    tokens: tools.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    isCounted: tools.every(({ tokens, note }) => tokens !== undefined || note !== undefined),
    isLarge: tools.length + builtins > MANY_TOOLS,
    isTooLarge: tools.length > MAX_TOOLS,
  };
}

const STATES: Record<Exclude<ToolState, "registered">, string> = {
  gone: "no longer there",
  waiting: "waiting for a disconnected server",
  disabled: "switched off",
};

export function toolsetNotes(states: readonly ToolState[], builtins?: number): string[] {
  const notes = Object.entries(STATES).flatMap(([state, text]) => {
    const count = states.filter((one) => one === state).length;
    return count === 0 ? [] : `${formatCount(count, "tool is", "tools are")} ${text}`;
  });
  if (builtins === undefined || states.length + builtins <= MANY_TOOLS) return notes;
  const listed = states.length + builtins;
  return [
    `/mcp would list ${listed} tools, including ${builtins} of the gateway's own; Cursor's limit is ${MANY_TOOLS}`,
    ...notes,
  ];
}

/** Why clients do not get a tool as its server lists it. */
export type ToolWait = "held" | "quarantined";

export const TOOL_WAITS: Record<ToolWait, { word: string; meaning: string; tone: string }> = {
  held: {
    word: "Held",
    meaning: "Its server added or changed it; clients do not see that until it is approved",
    tone: "warn",
  },
  quarantined: {
    word: "Quarantined",
    meaning: "Its definition looks like an attack, so clients cannot see or call it",
    tone: "bad",
  },
};

/** A choice of a filter, with how many tools it has. */
export interface FilterChoice {
  value: string;
  count: number;
}
