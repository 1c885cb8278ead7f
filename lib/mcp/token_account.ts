import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { ToolTokens } from "../catalog/tool_tokens.ts";
import type { Client, SentTokens } from "../core/client.ts";
import { estimateTokens } from "../core/token_counter.ts";
import type { ListedTools } from "./clients.ts";

interface TokenAccountOptions {
  tokens: Pick<ToolTokens, "count" | "prepare" | "of" | "total">;
  /** What a caller would be listed without the gateway's views. */
  visible(principal: string): readonly CatalogTool[];
  /** Called with what was added, for the counts of the day. */
  onSent(change: SentTokens): void;
}

/**
 * What models were sent in place of a list of all tools, by session. A session's baseline counts
 * once, however often it searches; each answer of the gateway's own tools counts as it was sent.
 */
export class TokenAccount {
  readonly #options: TokenAccountOptions;
  readonly #total: SentTokens = noTokens();

  constructor(options: TokenAccountOptions) {
    this.#options = options;
  }

  /** Of all sessions since the gateway started. */
  get total(): Readonly<SentTokens> {
    return this.#total;
  }

  baseline(principal: string): Promise<number> {
    return this.#options.tokens.total(this.#options.visible(principal));
  }

  /** Notes the list that a client was sent, which replaces the one before; nobody waits for it. */
  listed(client: Pick<Client, "principal" | "sent">, shown: ListedTools): void {
    // These are only statistics: entries that cannot be counted are left out.
    this.#count(client, shown).catch(() => {});
  }

  /** Notes the answer of one of the gateway's own tools; returns its cost. */
  answered({ sent }: Pick<Client, "sent">, answer: SentAnswer): number {
    const cost = answerTokens(answer);
    this.#add(sent, { ...noTokens(), answered: cost });
    return cost;
  }

  async #count({ principal, sent }: Pick<Client, "principal" | "sent">, shown: ListedTools) {
    if (!sent) return;
    const { tokens } = this.#options;
    const baseline = await this.baseline(principal);
    const [own] = await Promise.all([tokens.count(shown.builtins), tokens.prepare(shown.tools)]);
    const listed = own.reduce((sum, count) => sum + count, 0) +
      shown.tools.reduce((sum, tool) => sum + tokens.of(tool), 0);
    this.#add(sent, {
      baseline: baseline - sent.baseline,
      listed: listed - sent.listed,
      answered: 0,
    });
  }

  #add(sent: SentTokens | undefined, change: SentTokens): void {
    for (const counts of [this.#total, ...(sent ? [sent] : [])]) {
      counts.baseline += change.baseline;
      counts.listed += change.listed;
      counts.answered += change.answered;
    }
    this.#options.onSent(change);
  }
}

interface SentAnswer {
  text: string;
  data?: Record<string, unknown> | undefined;
}

/** What an answer costs as it is sent: as text, and again as structured content. */
export function answerTokens({ text, data }: SentAnswer): number {
  return estimateTokens(text) + (data === undefined ? 0 : estimateTokens(JSON.stringify(data)));
}

/** Tokens a session has saved; negative if the views cost more than listing all tools. */
export function savedTokens({ baseline, listed, answered }: SentTokens): number {
  return baseline - listed - answered;
}

function noTokens(): SentTokens {
  return { baseline: 0, listed: 0, answered: 0 };
}
