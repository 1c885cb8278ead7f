import type { GoldenPrompt } from "../../core/optimization.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { SearchIndex } from "../../catalog/search/search_index.ts";
import { type SearchDocument, toSearchDocument } from "../../catalog/search/search_document.ts";

/** Whoever comes later is not found, for all that a model would look at. */
const MOST_RANKED = 100;

export interface IndexedTool {
  server: string;
  name: string;
  definition: ToolDefinition;
}

interface SearchRankingOptions {
  /** All tools that are searched. */
  tools: readonly IndexedTool[];
  server: string;
  tool: string;
}

/**
 * Where our own search by words ranks a tool, with one description after the other: what they share
 * is indexed once. A negative prompt is one that it had better not be found for.
 */
export class SearchRanking {
  readonly #index = new SearchIndex();
  readonly #target: IndexedTool | undefined;

  constructor({ tools, server, tool }: SearchRankingOptions) {
    this.#target = tools.find((one) => one.server === server && one.name === tool);
    this.#index.update({ added: tools.map((one) => documentOf(one)) });
  }

  /** By prompt; null: not found. */
  of(description: string, prompts: readonly GoldenPrompt[]): Record<string, number | null> {
    if (!this.#target) return {};
    const document = documentOf(this.#target, description);
    this.#index.update({ added: [document] });
    return Object.fromEntries(
      prompts.map(({ id, prompt }) => {
        const hits = this.#index.search({ query: prompt, limit: MOST_RANKED });
        const rank = hits.findIndex(({ key }) => key === document.key);
        return [id, rank === -1 ? null : rank + 1];
      }),
    );
  }
}

function documentOf(
  { server, name, definition }: IndexedTool,
  description?: string,
): SearchDocument {
  const described = description === undefined ? definition : { ...definition, description };
  const text = JSON.stringify(described);
  // The text tells definitions apart as well as any hash of it.
  return toSearchDocument({
    server,
    name,
    definition: described,
    text,
    fingerprint: text,
    enabled: true,
  });
}
