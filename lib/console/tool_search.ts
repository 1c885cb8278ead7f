import { z } from "zod";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import { EVERYONE } from "../core/principal.ts";
import { namespacedName } from "../routing/names.ts";
import { compareText } from "./sorting.ts";
import { knownTokens } from "./tools_page.ts";

const MOST = 100;
const Limit = z.coerce.number().int().min(1).max(MOST);

/** A tool that a search found; without a query all are found, and none better than another. */
export interface SearchedTool {
  server: string;
  name: string;
  namespacedName: string;
  flatName: string;
  summary: string;
  category: string;
  tokens?: number;
  relevance?: number;
  explanation?: string;
  /** What each field adds to its rank. */
  scores?: Partial<Record<string, number>>;
}

export interface SearchAnswer {
  query: string;
  found: SearchedTool[];
  /** How many there are besides those; only known where nothing was asked for. */
  more: number;
  degraded?: string;
}

/** `?q=&category=&server=&limit=`: the same search as a model has. */
export async function searchTools(
  gateway: Pick<Gateway, "guide" | "tokens">,
  query: URLSearchParams,
): Promise<SearchAnswer> {
  const { guide } = gateway;
  const text = query.get("q")?.trim() ?? "";
  const category = query.get("category")?.toLowerCase() || undefined;
  const server = query.get("server") || undefined;
  const limit = Limit.safeParse(query.get("limit") || 10);
  if (!limit.success) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `The limit is a whole number from 1 to ${MOST}`,
    });
  }
  const all = guide.visible(EVERYONE);
  void gateway.tokens.prepare(guide.visible(EVERYONE, true)).catch(() => {});
  checkKnown("server", server, all.map((tool) => tool.server));
  checkKnown("category", category, guide.categories(all).map(([name]) => name));
  const described = (tool: CatalogTool): SearchedTool => {
    const { summary, category } = guide.metadata(tool);
    return {
      server: tool.server,
      name: tool.name,
      namespacedName: namespacedName(tool.server, tool.name),
      flatName: guide.nameOf(tool),
      summary,
      category,
      ...knownTokens(guide, tool),
    };
  };
  if (text === "") {
    const admitted = all.filter((tool) =>
      (server === undefined || tool.server === server) &&
      (category === undefined || guide.metadata(tool).category === category)
    ).sort((a, b) => compareText(a.server, b.server) || compareText(a.name, b.name));
    const shown = admitted.slice(0, limit.data);
    return { query: text, found: shown.map(described), more: admitted.length - shown.length };
  }
  const { found, degraded } = await guide.find(EVERYONE, {
    text,
    category,
    server,
    limit: limit.data,
  });
  return {
    query: text,
    found: found.map(({ tool, relevance, explanation, scores }) => ({
      ...described(tool),
      relevance,
      explanation,
      ...(scores === undefined ? {} : { scores }),
    })),
    more: 0,
    ...(degraded === undefined ? {} : { degraded }),
  };
}

/** A filter that nothing can pass is a mistake, not an empty answer. */
function checkKnown(what: "server" | "category", wanted: string | undefined, all: string[]): void {
  const known = [...new Set(all)];
  if (wanted === undefined || known.includes(wanted)) return;
  const near = nearestNames(wanted, known, 3);
  const some = near.length > 0 ? near : known.slice(0, 5);
  throw new GatewayError(what === "server" ? "SERVER_NOT_FOUND" : "INVALID_ARGUMENTS", {
    message: what === "server"
      ? `There is no server "${wanted.slice(0, 100)}" with tools`
      : `No tool has the category "${wanted.slice(0, 100)}"`,
    ...(some.length === 0 ? {} : { hint: `There is ${some.join(", ")}` }),
  });
}
