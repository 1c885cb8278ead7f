import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { Gateway } from "../compose.ts";
import { EVERYONE } from "../core/principal.ts";
import { namespacedName } from "../routing/names.ts";
import { compareText } from "./sorting.ts";
import { isPattern, toolPattern } from "./tool_pattern.ts";
import { knownTokens } from "./tools_page.ts";
import type { FilterChoice } from "./ui/filter_choice.ts";
import type { PickQuery, ToolPicks } from "./ui/tool_picks.ts";
import { MOST_TOOLS, type PickedTool } from "./ui/toolset_size.ts";

type PicksGateway = Pick<Gateway, "guide" | "tokens">;

const SHOWN = 100;
/** One more than a toolset holds, so that whoever wants all of more is told. */
export const MOST_PICKS = MOST_TOOLS + 1;
const MAX_QUERY = 200;
const SUMMARY_CHARS = 160;

/** `?q=&server=&category=&all=1`: what can be put into a toolset, for the one who builds it. */
export async function pickTools(
  gateway: PicksGateway,
  query: URLSearchParams,
): Promise<ToolPicks> {
  const asked = readPickQuery(query);
  const { guide } = gateway;
  void gateway.tokens.prepare(guide.visible(EVERYONE, true)).catch(() => {});
  if (asked.q !== "" && !isPattern(asked.q)) return await searched(guide, asked);
  const matching = matchingTools(guide, asked);
  const areAll = query.has("all");
  const shown = matching.slice(0, areAll ? MOST_PICKS : SHOWN);
  const totals = Map.groupBy(matching, ({ server }) => server);
  const groups = groupsOf(guide, shown, (server) => totals.get(server)?.length ?? 0);
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
export function matchingTools(
  guide: Gateway["guide"],
  { q, server, category }: PickQuery,
): CatalogTool[] {
  const fits = q === "" ? () => true : toolPattern(q);
  return guide.visible(EVERYONE).filter((tool) =>
    (server === "" || tool.server === server) &&
    (category === "" || guide.metadata(tool).category === category) && fits(tool)
  ).sort((a, b) => compareText(a.server, b.server) || compareText(a.name, b.name));
}

/** What can be filtered by, each with how many tools are on there. */
export function pickChoices(
  guide: Gateway["guide"],
): { servers: FilterChoice[]; categories: FilterChoice[] } {
  const all = guide.visible(EVERYONE);
  const counted = ([value, tools]: [string, CatalogTool[]]) => ({ value, count: tools.length });
  return {
    servers: [...Map.groupBy(all, (tool) => tool.server)].map(counted),
    categories: guide.categories(all).map(counted),
  };
}

export function pickedTool(guide: Gateway["guide"], tool: CatalogTool): PickedTool {
  const { summary } = guide.metadata(tool);
  return {
    namespacedName: namespacedName(tool.server, tool.name),
    server: tool.server,
    name: tool.name,
    summary: summary.slice(0, SUMMARY_CHARS),
    ...knownTokens(guide, tool),
  };
}

async function searched(guide: Gateway["guide"], asked: PickQuery): Promise<ToolPicks> {
  const { found, degraded } = await guide.find(EVERYONE, {
    text: asked.q,
    server: asked.server || undefined,
    category: asked.category || undefined,
    limit: SHOWN,
  });
  const tools = found.map(({ tool }) => tool);
  const totals = Map.groupBy(tools, ({ server }) => server);
  return {
    groups: groupsOf(guide, tools, (server) => totals.get(server)?.length ?? 0),
    total: tools.length,
    ...(degraded === undefined ? {} : { degraded }),
  };
}

function groupsOf(
  guide: Gateway["guide"],
  tools: readonly CatalogTool[],
  total: (server: string) => number,
): ToolPicks["groups"] {
  return [...Map.groupBy(tools, ({ server }) => server)].map(([server, tools]) => ({
    server,
    tools: tools.map((tool) => pickedTool(guide, tool)),
    total: total(server),
  }));
}
