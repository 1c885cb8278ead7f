import { Catalog } from "../catalog/catalog.ts";
import { copyTools } from "../catalog/canonical_catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { resolveTool } from "../catalog/resolve.ts";
import type { ToolSearchModule } from "../catalog/search/module.ts";
import { EVERYONE } from "../core/access.ts";
import { getOrMake } from "../core/defined.ts";
import { isObject } from "../core/rpc.ts";
import { textHash, type ToolText } from "../core/tool_text.ts";
import type { RunSteps } from "../optimizer/evaluators/evaluator.ts";
import { describedAs } from "../optimizer/targets.ts";
import { type BuiltinTool, callBuiltin, describeBuiltin } from "./builtin_tool.ts";
import { VIEW_INSTRUCTIONS } from "./combined_views.ts";
import { discoveryTools } from "./discovery_tools.ts";
import type { ToolDirectory } from "./tool_directory.ts";

const SEARCH = "tool_discovery";
const EXECUTE = "tool_execute";

interface EvalDiscoveryOptions {
  catalog: Catalog;
  toolDirectory: ToolDirectory;
  /** Closed with this. */
  searches: AsyncDisposable & {
    open(catalog: Catalog): Pick<ToolSearchModule, "search" | "ready"> & AsyncDisposable;
  };
}

/** The tool whose descriptions are on trial. */
interface TrialTool {
  server: string;
  name: string;
}

/** The tools with a text on trial in one of them. */
interface SearchedText {
  directory: ToolDirectory;
  /** Ends when their index is complete. */
  ready(): Promise<void>;
}

/**
 * Discovery as at /mcp, over the tools of one moment, with a description on trial in the place of
 * the tool's: our own search reads it, and so does the model. No call reaches a server.
 */
export class EvalDiscovery implements AsyncDisposable {
  readonly #options: EvalDiscoveryOptions;
  readonly #tool: TrialTool;
  readonly #servers: readonly [server: string, tools: readonly CatalogTool[]][];
  readonly #stack = new AsyncDisposableStack();
  /** By text; each has a search index of its own. */
  readonly #searched = new Map<string, SearchedText>();

  constructor(options: EvalDiscoveryOptions, tool: TrialTool) {
    this.#options = options;
    this.#tool = tool;
    this.#stack.use(options.searches);
    this.#servers = [...options.catalog.snapshot.servers]
      .map(([server, { tools }]) => [server, tools]);
  }

  /** For one run. */
  open(text: ToolText): RunSteps {
    const searched = getOrMake(this.#searched, textHash(text), () => this.#searchedWith(text));
    return new DiscoverySteps(searched, this.#tool);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #searchedWith(text: ToolText): SearchedText {
    const { toolDirectory, searches } = this.#options;
    const { server, name } = this.#tool;
    const catalog = new Catalog();
    for (const [owner, tools] of this.#servers) {
      copyTools(
        tools,
        catalog,
        owner,
        (tool) => owner === server && tool.name === name ? describedAs(tool, text).text : tool.text,
      );
    }
    const { search, ready } = this.#stack.use(searches.open(catalog));
    const directory = toolDirectory.over({
      catalog,
      // What somebody called earlier says nothing about the text.
      search: (query, admits) => search({ ...query, picks: undefined }, admits),
      // These are read from servers.
      skills: undefined,
    }).forOffer("");
    return { directory, ready };
  }
}

class DiscoverySteps implements RunSteps {
  readonly instructions = VIEW_INSTRUCTIONS.discovery;
  readonly entry = SEARCH;
  readonly listed: readonly string[];
  readonly search = { searched: false, found: false };
  readonly ready: () => Promise<void>;
  readonly #directory: ToolDirectory;
  readonly #tool: TrialTool;
  readonly #builtins: ReadonlyMap<string, BuiltinTool>;
  /** The flat names of tools, by the keys that this run's searches gave out. */
  readonly #keys = new Map<string, string>();

  constructor({ directory, ready }: SearchedText, tool: TrialTool) {
    this.#directory = directory;
    this.ready = ready;
    this.#tool = tool;
    const tools = discoveryTools(directory);
    this.#builtins = new Map(tools.map((tool) => [tool.name, tool]));
    this.listed = tools.map((tool) => JSON.stringify(describeBuiltin(tool, EVERYONE)));
  }

  isStep(name: string): boolean {
    return this.#builtins.has(name);
  }

  choiceOf({ name, arguments: given }: { name: string; arguments: unknown }) {
    const builtin = this.#builtins.get(name);
    if (!builtin) {
      const found = this.#findTool(name);
      return found === undefined ? undefined : { name: found, arguments: given };
    }
    if (name !== EXECUTE) return undefined;
    const { data } = builtin.input.safeParse(given);
    if (typeof data?.toolKey !== "string") return undefined;
    const found = this.#keys.get(data.toolKey) ?? this.#findTool(data.toolKey);
    return found === undefined ? undefined : { name: found, arguments: data.arguments };
  }

  async answer(...[request, client]: Parameters<RunSteps["answer"]>) {
    const builtin = this.#builtins.get(String(request.params.name));
    if (!builtin) return {};
    if (builtin.name === SEARCH) this.search.searched = true;
    const done = await callBuiltin(builtin, request, client);
    if ("forward" in done) return {};
    const { call, ...result } = done;
    const isTarget = ({ server, tool }: { server: string; tool: string }) =>
      server === this.#tool.server && tool === this.#tool.name;
    if (call?.search?.found.some(isTarget)) this.search.found = true;
    this.#noteKeys(result.structuredContent?.tools);
    return result;
  }

  #noteKeys(found: unknown): void {
    for (const one of Array.isArray(found) ? found : []) {
      if (!isObject(one) || typeof one.toolKey !== "string") continue;
      const tool = this.#directory.findOn(
        EVERYONE,
        String(one.serverName),
        String(one.toolName),
      );
      if (tool) this.#keys.set(one.toolKey, this.#directory.nameOf(tool));
    }
  }

  /** By any of its names, as `tool_execute` takes them. */
  #findTool(name: string): string | undefined {
    try {
      const { table } = this.#directory;
      return this.#directory.nameOf(resolveTool({ table, naming: "flat" }, name));
    } catch {
      return undefined;
    }
  }
}
