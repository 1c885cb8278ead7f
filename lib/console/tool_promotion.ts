import { canonicalDescription } from "../catalog/catalog_tool.ts";
import { type TextSegment, wordDiff } from "../catalog/word_diff.ts";
import type { Gateway } from "../compose.ts";

/** A promoted description beside the server's own. */
export interface ToolPromotion {
  /** Empty where the server gives none. */
  canonical: string;
  promoted: string;
  /** What the promoted one takes from and adds to the server's own. */
  diff: TextSegment[];
  promotedAt: number;
  by: string;
  /** The server has changed its own since, and nobody has said that the promoted one stays. */
  isStale: boolean;
}

const BY = { caller: "an MCP client", person: "a person", job: "an optimization job" };
const LONGEST = 10_000;

/** What is promoted for a tool, if anything is. */
export function promotionOf(
  { promotions, guide }: Pick<Gateway, "promotions" | "guide">,
  server: string,
  tool: string,
): { promotion?: ToolPromotion } {
  const found = promotions.of(server, tool);
  if (found === undefined) return {};
  const known = guide.table.find(server, tool);
  const canonical = (known ? canonicalDescription(known) : found.canonicalDescription) ?? "";
  return {
    promotion: {
      canonical: canonical.slice(0, LONGEST),
      promoted: found.description,
      diff: wordDiff(canonical.slice(0, LONGEST), found.description),
      promotedAt: Date.parse(found.promotedAt),
      by: BY[found.by],
      isStale: promotions.staleness(server, tool) !== undefined,
    },
  };
}
