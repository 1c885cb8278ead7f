/** Why clients do not get a tool as its server lists it. */
export type ToolWait = "held" | "quarantined";

export const TOOL_WAITS: Record<ToolWait, { word: string; meaning: string; tone: string }> = {
  held: {
    word: "Held",
    meaning: "Its server has changed or added it: clients go on without that until it is approved",
    tone: "warn",
  },
  quarantined: {
    word: "Quarantined",
    meaning: "What it says looks hostile: no client sees it or can call it",
    tone: "bad",
  },
};
