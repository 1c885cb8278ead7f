import type { BrokenTool, CatalogTool } from "../catalog/catalog_tool.ts";
import { problemInWords } from "../catalog/tool_problem.ts";
import type { Gateway } from "../compose.ts";
import { compareText } from "./sorting.ts";
import { matchesWords, searchWords } from "./tool_text.ts";
import type { ListedTool } from "./tools_page.ts";

/** What a tool can be listed by; one can be both promoted and on or off. */
export const TOOL_STATES = ["enabled", "disabled", "promoted", "invalid"] as const;
export type ToolListState = typeof TOOL_STATES[number];

export function readState(written: string | null): ToolListState | undefined {
  return TOOL_STATES.find((state) => state === written);
}

/** Tells which tools have a promoted description. */
export function promotedOnes({ promotions }: Pick<Gateway, "promotions">) {
  const byServer = Map.groupBy(promotions.list(), ({ server }) => server);
  const names = new Map(
    [...byServer].map(([server, list]) => [server, new Set(list.map(({ toolName }) => toolName))]),
  );
  return ({ server, name }: Pick<CatalogTool, "server" | "name">) =>
    names.get(server)?.has(name) ?? false;
}

export function isInState(
  tool: CatalogTool,
  state: ToolListState | undefined,
  isPromoted: (tool: CatalogTool) => boolean,
): boolean {
  switch (state) {
    case undefined:
      return true;
    case "enabled":
      return tool.enabled;
    case "disabled":
      return !tool.enabled;
    case "promoted":
      return isPromoted(tool);
    // These are no tools: they are listed from elsewhere.
    case "invalid":
      return false;
  }
}

/** What servers list and no client can be shown, by server and name. */
export function invalidTools(
  invalid: readonly BrokenTool[],
  { text, server, category }: {
    text: string;
    server: string | undefined;
    category: string | undefined;
  },
): BrokenTool[] {
  // Nobody knows what they are for.
  if (category !== undefined) return [];
  const words = searchWords(text);
  return invalid.filter((tool) =>
    (server === undefined || tool.server === server) &&
    matchesWords(words, tool.server, tool.name)
  ).sort((a, b) => compareText(a.server, b.server) || compareText(a.name, b.name));
}

export function listedInvalid(tool: BrokenTool): ListedTool {
  return {
    server: tool.server,
    name: tool.name,
    summary: "",
    category: "",
    isEnabled: false,
    isPromoted: false,
    problem: problemInWords(tool),
  };
}
