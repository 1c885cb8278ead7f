import type { ToolWait } from "./tool_wait.ts";

/** A tool of a server, to be exposed or not. */
export interface ToolChoice {
  name: string;
  summary: string;
  isOn: boolean;
  /** What listing it costs a model; undefined until it has been counted. */
  tokens?: number;
  /** Clients do not get it as the server lists it, until somebody has decided. */
  wait?: ToolWait;
}

/** Whether a person wants a tool. */
export interface ChosenTool {
  name: string;
  isOn: boolean;
}

/** The tools whose name or summary has every word. */
export function matchingTools(tools: readonly ToolChoice[], text: string): readonly ToolChoice[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return tools;
  return tools.filter(({ name, summary }) => {
    const all = `${name} ${summary}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** What the chosen ones cost together; undefined where one has not been counted. */
export function tokensOf(
  tools: readonly ToolChoice[],
  chosen: ReadonlySet<string>,
): number | undefined {
  let sum = 0;
  for (const { name, tokens } of tools) {
    if (!chosen.has(name)) continue;
    if (tokens === undefined) return undefined;
    sum += tokens;
  }
  return sum;
}
