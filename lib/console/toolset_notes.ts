import type { ToolState } from "../toolsets/toolset_state.ts";
import { formatCount } from "./ui/format.ts";
import { MANY_TOOLS } from "./ui/toolset_size.ts";

const WORDS: Record<Exclude<ToolState, "registered">, string> = {
  gone: "no longer there",
  waiting: "waiting for a server that is away",
  disabled: "switched off",
};

/** What a person should know of a toolset, in a sentence each. */
export function toolsetNotes(states: readonly ToolState[]): string[] {
  const notes = Object.entries(WORDS).flatMap(([state, words]) => {
    const count = states.filter((one) => one === state).length;
    return count === 0 ? [] : `${formatCount(count, "tool is", "tools are")} ${words}`;
  });
  if (states.length <= MANY_TOOLS) return notes;
  return [
    `${states.length} tools are more than some clients use: Cursor stops at ${MANY_TOOLS}`,
    ...notes,
  ];
}
