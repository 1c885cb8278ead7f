import { inTurn } from "../core/async.ts";
import type { ToolMetadataRepository } from "../storage/catalog_repositories.ts";
import type { Catalog } from "./catalog.ts";
import { type CatalogTool, shownFingerprint } from "./catalog_tool.ts";

/** What each tool costs a model when it is listed: an estimate, counted once for each definition. */
export class ToolTokens {
  readonly #repository: ToolMetadataRepository;
  readonly #catalog: Catalog;
  readonly #count: (texts: string[]) => Promise<number[]>;
  readonly #known = new Map<string, Map<string, number>>();
  /** One after the other: the second finds most of it counted. */
  readonly #inTurn = inTurn();

  constructor(
    repository: ToolMetadataRepository,
    catalog: Catalog,
    count: (texts: string[]) => Promise<number[]>,
  ) {
    this.#repository = repository;
    this.#catalog = catalog;
    this.#count = count;
  }

  /** Counts what is not known yet; afterwards `of` knows all of them. */
  async prepare(tools: readonly CatalogTool[]): Promise<void> {
    if (tools.every((tool) => this.#find(tool) !== undefined)) return;
    await this.#inTurn(() => this.#prepare(tools));
  }

  /** What other texts cost. */
  count(texts: readonly string[]): Promise<number[]> {
    return this.#count([...texts]);
  }

  of(tool: CatalogTool): number {
    return this.#find(tool) ?? 0;
  }

  async total(tools: readonly CatalogTool[]): Promise<number> {
    await this.prepare(tools);
    return tools.reduce((sum, tool) => sum + this.of(tool), 0);
  }

  #find(tool: CatalogTool): number | undefined {
    return this.#known.get(tool.server)?.get(shownFingerprint(tool));
  }

  async #prepare(tools: readonly CatalogTool[]): Promise<void> {
    for (const server of new Set(tools.map((tool) => tool.server))) {
      if (this.#known.has(server)) continue;
      this.#known.set(server, await this.#repository.tokens(server));
    }
    const missing = tools.filter((tool) => this.#find(tool) === undefined);
    if (missing.length === 0) return;
    const counts = await this.#count(missing.map(({ text }) => text));
    const changed = new Set<string>();
    for (const [index, tool] of missing.entries()) {
      const count = counts[index] ?? 0;
      // No definition costs zero tokens: the counter was stopped, so count again later.
      if (count === 0) continue;
      this.#known.get(tool.server)!.set(shownFingerprint(tool), count);
      changed.add(tool.server);
    }
    for (const server of changed) {
      await this.#save(server, tools.filter((tool) => tool.server === server));
    }
  }

  /** Only what is there now, or what was counted once would be kept forever. */
  async #save(server: string, asked: readonly CatalogTool[]): Promise<void> {
    const kept = this.#counts(this.#catalog.of(server).tools);
    // Who asked may have a list from a moment ago.
    this.#known.set(server, new Map([...this.#counts(asked), ...kept]));
    await this.#repository.saveTokens(server, kept).catch(() => {});
  }

  #counts(tools: readonly CatalogTool[]): Map<string, number> {
    const counts = tools.map((tool) => [shownFingerprint(tool), this.of(tool)] as const);
    return new Map(counts.filter(([, count]) => count > 0));
  }
}
