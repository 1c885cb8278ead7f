import type { CatalogTool } from "../../../../lib/catalog/catalog_tool.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { EVERYONE } from "../../../../lib/core/access.ts";
import { namespacedName } from "../../../../lib/catalog/names.ts";
import { knownTokens } from "../../../../lib/console/tool_rows.ts";
import { MAX_TOOLS, type PickedTool } from "../../../../lib/console/ui/tools.ts";
import { byName } from "../../tools/(_page)/model.ts";
import type { PickQuery, ToolPicks } from "./browser.ts";

const SHOWN = 100;
/** One more than a toolset holds, so that whoever wants all of more is told. */
export const MAX_PICKS = MAX_TOOLS + 1;
const MAX_QUERY = 200;
const SUMMARY_CHARS = 160;

/** `?q=&server=&category=&all=1`: what can be put into a toolset, for the one who builds it. */
export async function pickTools(
  gateway: Pick<Gateway, "guide" | "tokens">,
  query: URLSearchParams,
): Promise<ToolPicks> {
  const asked = readPickQuery(query);
  const { guide } = gateway;
  void gateway.tokens.prepare(guide.visible(EVERYONE, true)).catch(() => {});
  if (asked.q !== "" && !isPattern(asked.q)) return await searched(guide, asked);
  const matching = pickableTools(guide, asked);
  const areAll = query.has("all");
  const shown = matching.slice(0, areAll ? MAX_PICKS : SHOWN);
  const groups = groupsOf(guide, shown, matching);
  if (areAll) {
    // Nobody reads the summaries of what is added all at once.
    for (const tool of groups.flatMap(({ tools }) => tools)) tool.summary = "";
  }
  return { groups, total: matching.length };
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
  guide: Gateway["guide"],
  { q, server, category }: PickQuery,
): CatalogTool[] {
  const fits = q === "" ? () => true : toolPattern(q);
  return guide.visible(EVERYONE).filter((tool) =>
    (server === "" || tool.server === server) &&
    (category === "" || guide.metadata(tool).category === category) && fits(tool)
  ).sort(byName);
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
  return { groups: groupsOf(guide, tools), total: tools.length, degraded };
}

function groupsOf(
  guide: Gateway["guide"],
  shown: readonly CatalogTool[],
  all = shown,
): ToolPicks["groups"] {
  const totals = Map.groupBy(all, ({ server }) => server);
  return [...Map.groupBy(shown, ({ server }) => server)].map(([server, tools]) => ({
    server,
    tools: tools.map((tool) => pickedTool(guide, tool)),
    total: totals.get(server)?.length ?? 0,
  }));
}

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
