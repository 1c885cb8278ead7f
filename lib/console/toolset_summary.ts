import type { Gateway } from "../compose.ts";
import type { Toolset } from "../core/toolset.ts";
import { toolsetNotes } from "./toolset_notes.ts";

/** A toolset in a few words and numbers. */
export interface ToolsetSummary {
  name: string;
  description?: string;
  toolCount: number;
  /** How many can be called now. */
  registered: number;
  /** Undefined until all of them have been counted. */
  tokens?: number;
  updatedAt: number;
  notes: string[];
}

/** What is known now: no page waits until thousands of tools have been counted. */
export function summaryOf(
  { toolsets: admin, guide, tokens }: Pick<Gateway, "toolsets" | "guide" | "tokens">,
  toolset: Toolset,
): ToolsetSummary {
  const tools = admin.toolsets.tools(toolset);
  const known = tools.flatMap(({ tool }) => tool ?? []);
  void tokens.prepare(known).catch(() => {});
  const costs = known.map((tool) => guide.tokensOf(tool));
  const { name, description, updatedAt } = toolset;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    toolCount: tools.length,
    registered: tools.filter(({ state }) => state === "registered").length,
    ...(costs.includes(0) ? {} : { tokens: costs.reduce((sum, cost) => sum + cost, 0) }),
    updatedAt,
    notes: toolsetNotes(tools.map(({ state }) => state)),
  };
}
