import type { BrokenTool, CatalogTool } from "../../../../lib/catalog/catalog_tool.ts";
import { describeProblem } from "../../../../lib/catalog/catalog_tool.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { compareText } from "../../../../lib/console/lists.ts";
import { matchesWords, searchWords, type WaitingTool } from "../../../../lib/console/tool_rows.ts";
import { TOOL_WAITS } from "../../../../lib/console/ui/tools.ts";
import type { ListedTool } from "./model.ts";

/** What a tool can be listed by; one can be both promoted and on or off. */
const TOOL_STATES = [
  "enabled",
  "disabled",
  "promoted",
  "held",
  "quarantined",
  "invalid",
] as const;
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
    // Clients get none of these as they are: they are listed from elsewhere.
    case "held":
    case "quarantined":
    case "invalid":
      return false;
  }
}

/** What servers list and no client can be shown, by server and name. */
export function unservedTools<T extends { server: string; name: string }>(
  unserved: readonly T[],
  { text, server, category }: {
    text: string;
    server: string | undefined;
    category: string | undefined;
  },
): T[] {
  // Nobody knows what they are for.
  if (category !== undefined) return [];
  const words = searchWords(text);
  return unserved.filter((tool) =>
    (server === undefined || tool.server === server) &&
    matchesWords(words, tool.server, tool.name)
  ).sort((a, b) => compareText(a.server, b.server) || compareText(a.name, b.name));
}

/** A tool that waits for a decision, in place of what its server says of it. */
export function listedWaiting({ server, tool, state }: WaitingTool): ListedTool {
  const { meaning } = TOOL_WAITS[state];
  return {
    server,
    name: tool,
    summary: meaning,
    category: "",
    isEnabled: true,
    isPromoted: false,
    isServed: false,
    wait: state,
  };
}

export function listedInvalid(tool: BrokenTool): ListedTool {
  return {
    server: tool.server,
    name: tool.name,
    summary: "",
    category: "",
    isEnabled: false,
    isPromoted: false,
    isServed: false,
    problem: describeProblem(tool),
  };
}
