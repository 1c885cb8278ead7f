import type { GoldenPrompt, ToolText } from "../../core/optimization.ts";
import type { CatalogTool } from "../../catalog/catalog_tool.ts";
import { withParameterTexts } from "../../catalog/parameter_texts.ts";
import { SearchIndex } from "../../catalog/search/search_index.ts";
import { type SearchDocument, toSearchDocument } from "../../catalog/search/search_document.ts";

/** A tool that comes later counts as not found: no model would look that far. */
const MOST_RANKED = 100;

export type IndexedTool = Pick<CatalogTool, "server" | "name" | "definition">;

/** The tool's rank in keyword search, by prompt; null: not found. Texts share one index. */
export function searchRanking(
  tools: readonly IndexedTool[],
  /** As its server has it. */
  target: IndexedTool,
): (text: ToolText, prompts: readonly GoldenPrompt[]) => Record<string, number | null> {
  const { server, name } = target;
  if (!tools.some((one) => one.server === server && one.name === name)) return () => ({});
  const index = new SearchIndex();
  index.update({ added: tools.map(documentOf) });
  return ({ description, parameters = {} }, prompts) => {
    const described = JSON.stringify({ ...target.definition, description });
    const definition = JSON.parse(withParameterTexts(described, parameters));
    const document = documentOf({ server, name, definition });
    index.update({ added: [document] });
    return Object.fromEntries(prompts.map(({ id, prompt }) => {
      const hits = index.search({ query: prompt, limit: MOST_RANKED });
      const rank = hits.findIndex(({ key }) => key === document.key);
      return [id, rank === -1 ? null : rank + 1];
    }));
  };
}

function documentOf({ server, name, definition }: IndexedTool): SearchDocument {
  const text = JSON.stringify(definition);
  // The text tells definitions apart as well as any hash of it.
  return toSearchDocument({ server, name, definition, text, fingerprint: text, enabled: true });
}
