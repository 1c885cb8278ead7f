import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { isListedTo } from "../catalog/listed_to.ts";
import type { ToolMetadata, ToolMetadataBook } from "../catalog/tool_metadata.ts";
import type { ToolTokens } from "../catalog/tool_tokens.ts";
import { GatewayError } from "../core/errors.ts";
import { didYouMean, nearestNames } from "../core/text.ts";
import { POOR_RELEVANCE, type SearchPick } from "../core/tool.ts";
import { credentialOf, ownerOf, projectOf } from "../core/access.ts";
import type { ServerState } from "../core/server.ts";
import type { NameTable, NameTables } from "../catalog/name_table.ts";
import { resolveTool } from "../catalog/resolve.ts";
import type { FoundTool, FoundTools, ToolQuery } from "../catalog/search/module.ts";
import { invalidKey, ToolKeys } from "../catalog/tool_keys.ts";
import type { SentTokens } from "../core/client.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import type { ToolContext } from "./builtin_tool.ts";
import type { FoundSkill, SkillDirectory } from "./skill_directory.ts";
import { savedTokens } from "./token_account.ts";
import type { StartingServers } from "./starting_servers.ts";

const NEAREST = 3;
/** More are not compared for being related. */
const MOST_SIBLINGS = 200;
const NAME_CHARS = 200;
/** `server:tool` or `server.tool`. */
const SERVER_AND_TOOL = /^([\w-]+)([:.])(.+)$/s;
/** Keys of this gateway, and what other gateways have for keys. */
const KEY_LIKE = /^tk_|^[0-9a-f]{8}-[0-9a-f]{4}-/i;

/** Whether even the best of the found tools is unlikely to be the one that was meant. */
export function isPoor([best]: readonly { relevance?: number | undefined }[]): boolean {
  return (best?.relevance ?? 0) < POOR_RELEVANCE;
}

/** Stands for a server's name in records of the gateway's own tools. */
export const OWN_TOOLS = "(gateway)";

/** A search for the activity log. */
export function searchRecord(
  tool: string,
  query: string,
  all: readonly FoundTool[],
  tokens?: number,
): CallRecord {
  const found = all.map(({ tool: { server, name }, relevance }) => ({
    server,
    tool: name,
    relevance,
  }));
  const cost = tokens === undefined ? {} : { tokens };
  return { server: OWN_TOOLS, tool, search: { query, found, isHit: !isPoor(all), ...cost } };
}

export interface ToolDirectoryOptions {
  catalog: Catalog;
  names: NameTables;
  metadata: ToolMetadataBook;
  tokens: ToolTokens;
  /** Made when first needed: the secret is in the store. */
  keys(): Promise<ToolKeys>;
  search(query: ToolQuery, admits: (tool: CatalogTool) => boolean): Promise<FoundTools>;
  servers(principal: string): Iterable<string>;
  serverState(name: string): ServerState | undefined;
  starting: StartingServers;
  admits(principal: string, tool: CatalogTool): boolean;
  /** Whether a caller may see disabled tools if it asks for them; default: all may. */
  mayManage?(principal: string): boolean;
  /** Tools that were called in the same sessions, most often first. */
  usedWith(tool: CatalogTool): readonly CatalogTool[];
  /** Skills that match a search and its results; default: none. */
  skills?: Pick<SkillDirectory, "find"> | undefined;
  /** Arguments of the owner's last calls of a tool that went well, without secrets; default: none. */
  callsOf?(owner: string, tool: CatalogTool): Record<string, unknown>[];
  /** Tools that an owner called after its searches; default: none. */
  picksOf?(owner: string): readonly SearchPick[];
  /** What a list of all tools would cost a caller's model. */
  baseline(principal: string): Promise<number>;
  warmUp(): void;
}

/** What a caller can learn of the tools it may see: find, describe and count them. */
export class ToolDirectory {
  readonly #options: ToolDirectoryOptions;

  constructor(options: ToolDirectoryOptions) {
    this.#options = options;
  }

  /** The same for clients with this offer: without what servers list to others only. */
  forOffer(offer: string): ToolDirectory {
    const { admits } = this.#options;
    return new ToolDirectory({
      ...this.#options,
      admits: (principal, tool) => isListedTo(tool, offer, principal) && admits(principal, tool),
    });
  }

  /** The same over another catalog of the same servers, with a search of its own. */
  over(
    other: Pick<ToolDirectoryOptions, "catalog" | "search"> & Partial<ToolDirectoryOptions>,
  ): ToolDirectory {
    const { usedWith } = this.#options;
    return new ToolDirectory({
      ...this.#options,
      ...other,
      usedWith: (tool) =>
        usedWith(tool).flatMap(({ server, name }) =>
          other.catalog.of(server).tools.find((one) => one.name === name) ?? []
        ),
    });
  }

  get table(): NameTable {
    return this.#options.names.of(this.#options.catalog.snapshot);
  }

  /** Changes whenever the metadata of tools does, apart from changes of the catalog. */
  get edition(): unknown {
    return this.#options.metadata.edition;
  }

  warmUp(): void {
    this.#options.warmUp();
  }

  /** To be awaited before `metadata` and what is made of it: categories take a moment. */
  async prepare(): Promise<void> {
    await this.#options.metadata.prepare();
  }

  /** The tools that a caller may call, in the order of servers and their lists. */
  visible(principal: string, withDisabled = false): CatalogTool[] {
    const servers = [...this.#options.catalog.snapshot.servers].sort(([a], [b]) => a < b ? -1 : 1);
    const showsAll = withDisabled && this.#options.mayManage?.(principal) !== false;
    return servers.flatMap(([, { tools }]) =>
      tools.filter((tool) => (tool.enabled || showsAll) && this.#options.admits(principal, tool))
    );
  }

  /** Tools with the texts that a client gets, which a live A/B then knows. */
  shownTo(client: ToolContext["client"], tools: readonly CatalogTool[]): CatalogTool[] {
    const { served } = this.#options.catalog;
    if (client === undefined) return [...tools];
    const reader = served.readerOf(client);
    served.noteShown(tools, reader);
    return tools.map((tool) => served.shownTo(tool, reader));
  }

  metadata(tool: CatalogTool): ToolMetadata {
    return this.#options.metadata.of(tool);
  }

  nameOf(tool: CatalogTool): string {
    return this.table.nameOf(tool, "flat");
  }

  /** The servers that a caller may see; one that has tools, but none for the caller, is not there. */
  servers(principal: string): string[] {
    const { catalog, servers, admits } = this.#options;
    return [...servers(principal)].filter((name) => {
      const { tools } = catalog.of(name);
      return tools.length === 0 || tools.some((tool) => admits(principal, tool));
    });
  }

  serverState(name: string): ServerState | undefined {
    return this.#options.serverState(name);
  }

  async find(principal: string, query: ToolQuery): Promise<FoundTools> {
    const { catalog, admits, search, picksOf } = this.#options;
    const category = query.category?.toLowerCase();
    const visible = [...this.#options.servers(principal)];
    const wanted = {
      ...query,
      category: undefined,
      servers: visible.length < catalog.snapshot.servers.size ? visible : undefined,
      picks: picksOf?.(ownerOf(principal)),
    };
    const isMeant = (tool: CatalogTool) =>
      tool.enabled && admits(principal, tool) &&
      (query.server === undefined || tool.server === query.server);
    if (category === undefined) return await search(wanted, isMeant);
    await this.prepare();
    const within = await search(
      { ...wanted, category },
      (tool) => isMeant(tool) && this.isIn(tool, category),
    );
    // Categories are inferred: one that is wrong must not hide the tool that fits.
    const others = await search(wanted, (tool) => isMeant(tool) && !this.isIn(tool, category));
    const isFitting = ({ relevance }: FoundTool) => relevance >= POOR_RELEVANCE;
    const found = [
      ...within.found.filter(isFitting),
      ...others.found.filter(isFitting),
      ...within.found.filter((tool) => !isFitting(tool)),
    ].slice(0, query.limit);
    return { ...within, found };
  }

  isIn(tool: CatalogTool, category: string): boolean {
    return this.metadata(tool).categories.includes(category);
  }

  async findSkills(
    principal: string,
    query: string,
    tools: readonly CatalogTool[],
  ): Promise<FoundSkill[]> {
    return await this.#options.skills?.find(principal, query, tools) ?? [];
  }

  /** How many tools of each category a caller can see, the largest first. */
  categories(tools: readonly CatalogTool[]): [string, CatalogTool[]][] {
    const groups = Map.groupBy(tools, (tool) => this.metadata(tool).category);
    return [...groups].sort(([a, left], [b, right]) =>
      right.length - left.length || (a < b ? -1 : 1)
    );
  }

  /** The servers whose tools are missing because they are still starting. */
  missing(principal: string): { starting?: string[]; note?: string } {
    return this.#options.starting.missingFrom(principal);
  }

  /** A tool by a key, or by any of its names; waits for its server, if that is starting. */
  async resolve(principal: string, keyOrName: string, signal?: AbortSignal): Promise<CatalogTool> {
    if (ToolKeys.isKey(keyOrName)) {
      const owner = ownerOf(principal);
      const tool = (await this.#options.keys()).resolve(keyOrName, owner, this.table);
      if (this.#options.admits(principal, tool)) return this.#usable(tool);
      if (this.#options.admits(credentialOf(principal), tool)) throw elsewhere(principal);
      throw new GatewayError("ACCESS_DENIED", {
        message: "You no longer have access to this key's tool",
      });
    }
    try {
      const { starting, admits } = this.#options;
      const find = () =>
        resolveTool({
          table: this.table,
          naming: "flat",
          admits: (tool) => admits(principal, tool),
          away: () => starting.away(principal),
        }, keyOrName);
      return await starting.await(principal, keyOrName, find, signal);
    } catch (error) {
      throw await this.#withNearest(error, principal, keyOrName);
    }
  }

  /** Like `resolve`, for a key: input that is neither a key nor close to a name is an invalid key. */
  async resolveKey(principal: string, key: string, signal?: AbortSignal): Promise<CatalogTool> {
    try {
      return await this.resolve(principal, key, signal);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "TOOL_NOT_FOUND") throw error;
      const [, server, separator, tool] = SERVER_AND_TOOL.exec(key) ?? [];
      if (server !== undefined) {
        if (this.servers(principal).includes(server)) {
          throw this.noSuchTool(principal, server, tool!);
        }
        if (separator === ":" || error.details.hint === undefined) {
          throw this.noSuchServer(principal, server);
        }
      }
      // A similar name is a misspelled name; anything else is an invalid key.
      if (error.details.hint !== undefined && !KEY_LIKE.test(key)) throw error;
      throw invalidKey(`"${key.slice(0, NAME_CHARS)}" is neither a toolKey nor a tool's name`);
    }
  }

  /** "slack has no tool "create_issue"", and who has one. */
  noSuchTool(principal: string, server: string, name: string): GatewayError {
    const tools = this.visible(principal);
    const elsewhere = tools.filter((tool) => tool.name === name).slice(0, NEAREST);
    const own = tools.filter((tool) => tool.server === server).map((tool) => tool.name);
    const near = nearestNames(name, own, NEAREST).flatMap((near) =>
      tools.find((tool) => tool.server === server && tool.name === near) ?? []
    );
    const meant = [...near, ...elsewhere].slice(0, NEAREST).map((tool) => this.nameOf(tool));
    return new GatewayError("TOOL_NOT_FOUND", {
      message: `${server} has no tool "${name.slice(0, NAME_CHARS)}"`,
      recoverySteps: ["Use a tool that this server has, or the server that has this tool"],
      ...didYouMean(meant),
      ...(meant.length === 0 ? {} : { suggestedTools: meant }),
    });
  }

  noSuchServer(principal: string, name: string): GatewayError {
    return new GatewayError("SERVER_NOT_FOUND", {
      message: `There is no server "${name.slice(0, NAME_CHARS)}"`,
      recoverySteps: ["Use the name of an existing server"],
      ...didYouMean(nearestNames(name, this.servers(principal), NEAREST)),
    });
  }

  findOn(principal: string, server: string, name: string): CatalogTool | undefined {
    const tool = this.table.find(server, name);
    return tool && this.#options.admits(principal, tool) ? tool : undefined;
  }

  async keyFor(tool: CatalogTool, principal: string): Promise<string> {
    return (await this.#options.keys()).issue(tool, ownerOf(principal));
  }

  callsOf(principal: string, tool: CatalogTool): Record<string, unknown>[] {
    return this.#options.callsOf?.(ownerOf(principal), tool) ?? [];
  }

  /** Tools that go with this one: used together with it, then those of its server that are alike. */
  related(principal: string, tool: CatalogTool, limit: number): string[] {
    const { catalog, metadata, usedWith, admits } = this.#options;
    const isUsable = (other: CatalogTool) =>
      other !== tool && other.enabled && admits(principal, other) &&
      metadata.of(other).deprecated === undefined;
    const siblings = catalog.of(tool.server).tools.filter(isUsable).slice(0, MOST_SIBLINGS);
    const used = usedWith(tool).filter(isUsable);
    return [...new Set([...used, ...metadata.similar(tool, siblings)])].slice(0, limit)
      .map((other) => this.nameOf(other));
  }

  /** What this answer costs, and how much the session has saved so far. */
  async tokenMetrics(principal: string, returned: number, sent?: Readonly<SentTokens>) {
    const baseline = await this.#options.baseline(principal);
    const before = sent ?? { listed: 0, answered: 0 };
    const answered = before.answered + returned;
    const saved = Math.max(0, savedTokens({ baseline, listed: before.listed, answered }));
    return {
      baseline_tokens: baseline,
      returned_tokens: returned,
      tokens_saved: saved,
      savings_percentage: baseline === 0 ? 0 : Math.round((saved / baseline) * 1000) / 10,
    };
  }

  /** Counts the tokens of tools, so that `tokensOf` knows them. */
  async countTokens(tools: readonly CatalogTool[]): Promise<void> {
    await this.#options.tokens.prepare(tools);
  }

  tokensOf(tool: CatalogTool): number {
    return this.#options.tokens.of(tool);
  }

  nearestCategories(principal: string, written: string): string[] {
    const known = this.categories(this.visible(principal)).map(([name]) => name);
    const alike = nearestNames(written, known, 3);
    if (alike.length > 0) return alike;
    return this.#options.metadata.nearestCategories(written, known, 3);
  }

  /** Names that look alike are few: what is found by the words of a name is as near. */
  async #withNearest(error: unknown, principal: string, name: string): Promise<unknown> {
    if (!(error instanceof GatewayError) || error.code !== "TOOL_NOT_FOUND") return error;
    const alike = error.details.suggestedTools ?? [];
    // Where several servers have a tool of that name, these are meant, and no others.
    const isOne = alike.some((other) => this.table.byFlat(other)?.name === name);
    if (isOne || alike.length >= NEAREST) return error;
    const text = name.slice(0, NAME_CHARS);
    const { found } = await this.find(principal, { text, limit: NEAREST })
      .catch(() => ({ found: [] }));
    const fitting = isPoor(found) ? [] : found;
    const near = [...new Set([...alike, ...fitting.map(({ tool }) => this.nameOf(tool))])]
      .slice(0, NEAREST);
    if (near.length === 0) return error;
    const hint = `Did you mean ${near.join(", ")}?`;
    return new GatewayError(error.code, { ...error.details, hint, suggestedTools: near });
  }

  #usable(tool: CatalogTool): CatalogTool {
    return resolveTool(
      { table: this.table, naming: "namespaced", server: tool.server },
      this.table.nameOf(tool, "namespaced"),
    );
  }
}

/** A key that the caller got in another project. */
function elsewhere(principal: string): GatewayError {
  return new GatewayError("PROJECT_MISMATCH", {
    message: `Tool not available for the selected project "${projectOf(principal)}"`,
    recoveryAction: "Use tools available in your current project",
    recoverySteps: [
      "Call tool_discovery to find tools in your current project",
      "Switch to a different project if you need this tool",
      "Check if the server is assigned to your project",
    ],
    suggestedTools: ["tool_discovery"],
  });
}
