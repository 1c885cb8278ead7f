import type { CatalogTool } from "../../../../lib/catalog/catalog_tool.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { EVERYONE } from "../../../../lib/core/access.ts";
import { namespacedName } from "../../../../lib/catalog/names.ts";
import { compareText } from "../../../../lib/console/lists.ts";
import { knownTokens } from "../../../../lib/console/tool_rows.ts";
import { type FilterChoice, MAX_TOOLS, type PickedTool } from "../../../../lib/console/ui/tools.ts";
import type { PickQuery, ToolPicks } from "./browser.ts";

type PicksGateway = Pick<Gateway, "toolDirectory" | "tokens">;

const SHOWN = 100;
/** One more than a toolset holds, so that whoever wants all of more is told. */
export const MAX_PICKS = MAX_TOOLS + 1;
const MAX_QUERY = 200;
const SUMMARY_CHARS = 160;

/** `?q=&server=&category=&all=1`: what can be put into a toolset, for the one who builds it. */
export async function pickTools(
  gateway: PicksGateway,
  query: URLSearchParams,
): Promise<ToolPicks> {
  const asked = readPickQuery(query);
  const { toolDirectory } = gateway;
  void gateway.tokens.prepare(toolDirectory.visible(EVERYONE, true)).catch(() => {});
  if (asked.q !== "" && !isPattern(asked.q)) return await searched(toolDirectory, asked);
  const matching = pickableTools(toolDirectory, asked);
  const areAll = query.has("all");
  const shown = matching.slice(0, areAll ? MAX_PICKS : SHOWN);
  const totals = Map.groupBy(matching, ({ server }) => server);
  const groups = groupsOf(toolDirectory, shown, (server) => totals.get(server)?.length ?? 0);
  if (!areAll) return { groups, total: matching.length };
  // Whoever takes all of them reads none of them.
  const bare = groups.map(({ tools, ...group }) => ({
    ...group,
    tools: tools.map((tool) => ({ ...tool, summary: "" })),
  }));
  return { groups: bare, total: matching.length };
}

export function readPickQuery(query: URLSearchParams): PickQuery {
  return {
    q: query.get("q")?.trim().slice(0, MAX_QUERY) ?? "",
    server: query.get("server") ?? "",
    category: query.get("category") ?? "",
  };
}

/** All that are on and fit, by server and name; the words of a search find nothing here. */
export function pickableTools(
  toolDirectory: Gateway["toolDirectory"],
  { q, server, category }: PickQuery,
): CatalogTool[] {
  const fits = q === "" ? () => true : toolPattern(q);
  return toolDirectory.visible(EVERYONE).filter((tool) =>
    (server === "" || tool.server === server) &&
    (category === "" || toolDirectory.metadata(tool).category === category) && fits(tool)
  ).sort((a, b) => compareText(a.server, b.server) || compareText(a.name, b.name));
}

/** What can be filtered by, each with how many tools are on there. */
export function pickChoices(
  toolDirectory: Gateway["toolDirectory"],
): { servers: FilterChoice[]; categories: FilterChoice[] } {
  const all = toolDirectory.visible(EVERYONE);
  const counted = ([value, tools]: [string, CatalogTool[]]) => ({ value, count: tools.length });
  return {
    servers: [...Map.groupBy(all, (tool) => tool.server)].map(counted),
    categories: toolDirectory.categories(all).map(counted),
  };
}

export function pickedTool(toolDirectory: Gateway["toolDirectory"], tool: CatalogTool): PickedTool {
  const { summary } = toolDirectory.metadata(tool);
  return {
    namespacedName: namespacedName(tool.server, tool.name),
    server: tool.server,
    name: tool.name,
    summary: summary.slice(0, SUMMARY_CHARS),
    ...knownTokens(toolDirectory, tool),
  };
}

async function searched(
  toolDirectory: Gateway["toolDirectory"],
  asked: PickQuery,
): Promise<ToolPicks> {
  const { found, degraded } = await toolDirectory.find(EVERYONE, {
    text: asked.q,
    server: asked.server || undefined,
    category: asked.category || undefined,
    limit: SHOWN,
  });
  const tools = found.map(({ tool }) => tool);
  const totals = Map.groupBy(tools, ({ server }) => server);
  return {
    groups: groupsOf(toolDirectory, tools, (server) => totals.get(server)?.length ?? 0),
    total: tools.length,
    ...(degraded === undefined ? {} : { degraded }),
  };
}

function groupsOf(
  toolDirectory: Gateway["toolDirectory"],
  tools: readonly CatalogTool[],
  total: (server: string) => number,
): ToolPicks["groups"] {
  return [...Map.groupBy(tools, ({ server }) => server)].map(([server, tools]) => ({
    server,
    tools: tools.map((tool) => pickedTool(toolDirectory, tool)),
    total: total(server),
  }));
}

/** Whether somebody wrote a pattern in place of words. */
export function isPattern(text: string): boolean {
  return text.includes("*");
}

/**
 * Tools by a pattern in which `*` stands for any letters, none too. With a dot it is about whole
 * names (`git.*`), without one about the server's own names (`*read*`).
 */
export function toolPattern(written: string): (tool: { server: string; name: string }) => boolean {
  const parts = written.toLowerCase().split("*");
  const isWhole = written.includes(".");
  return ({ server, name }) => fits((isWhole ? `${server}.${name}` : name).toLowerCase(), parts);
}

/** Part by part from the left, so that no pattern takes long, whatever somebody writes. */
function fits(text: string, parts: readonly string[]): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
