import type { GoldenPrompt } from "../core/optimization.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { SearchIndex } from "../search/search_index.ts";
import { type SearchDocument, toSearchDocument } from "../search/search_document.ts";

/** Whoever comes later is not found, for all that a model would look at. */
const MOST_RANKED = 100;

export interface RankedTool {
  server: string;
  name: string;
  definition: ToolDefinition;
}

export interface SearchRanksOptions {
  /** All tools that are searched. */
  tools: readonly RankedTool[];
  server: string;
  tool: string;
}

/**
 * Where our own search by words ranks a tool, with one description after the other: what they share
 * is indexed once. A negative prompt is one that it had better not be found for.
 */
export class SearchRanks {
  readonly #index = new SearchIndex();
  readonly #subject: RankedTool | undefined;

  constructor({ tools, server, tool }: SearchRanksOptions) {
    this.#subject = tools.find((one) => one.server === server && one.name === tool);
    this.#index.update({ added: tools.map((one) => documentOf(one)) });
  }

  /** By prompt; null: not found. */
  of(description: string, prompts: readonly GoldenPrompt[]): Record<string, number | null> {
    if (!this.#subject) return {};
    const document = documentOf(this.#subject, description);
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
  { server, name, definition }: RankedTool,
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
