import { getOrMake } from "../core/defined.ts";
import type { CatalogSnapshot } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { Toolsets } from "../catalog/toolsets/toolsets.ts";
import { namespacedName } from "../catalog/names.ts";
import { Builtins } from "../catalog/resolve.ts";
import { GatewayError } from "../core/errors.ts";
import type { Toolset } from "../core/tool.ts";
import { type EndpointPath, isViewName, VIEW_NAMES, type ViewName } from "../http/endpoint_path.ts";
import type { BuiltinTool } from "./builtin_tool.ts";
import { CombinedView, type CombinedViewOptions } from "./combined_view.ts";
import type { VisibleServers } from "./view.ts";
import { GivenLinksRepository } from "../storage/servers_repository.ts";
import { GivenLinks } from "./given_links.ts";
import { discoveryTools } from "./discovery_tools.ts";
import type { McpEndpoint } from "./endpoint_host.ts";
import { indexTools } from "./index_tools.ts";
import type { McpModuleOptions } from "./module.ts";
import type { OfferedLists } from "./offered_lists.ts";
import { optimizerTools } from "./optimizer_tools.ts";
import type { ToolDirectory } from "./tool_directory.ts";

/** The gateway's own administrative tools, by family. */
export interface GatewayTools {
  servers: readonly BuiltinTool[];
  toolsets: readonly BuiltinTool[];
  optimization(): Promise<OptimizationTools>;
  mayUse(principal: string, tool: BuiltinTool): boolean;
  demandUse(principal: string, tool: BuiltinTool): void;
}

interface OptimizationTools {
  always: readonly BuiltinTool[];
  /** Tools that spend model time: offered only while that is allowed. */
  gated: readonly BuiltinTool[];
}

/** The gateway's own tools at the default endpoint. */
interface OwnTools {
  listed: Record<ViewName, readonly BuiltinTool[]>;
  /** All that can be called, whatever is listed. */
  builtins: Builtins<BuiltinTool>;
}

type CombinedViewsOptions = Omit<McpModuleOptions, "toolsets"> & {
  toolsets: Pick<Toolsets, "find" | "resolve" | "registered">;
  tools: GatewayTools;
  offered: OfferedLists;
  settle(): void;
};

export type CombinedPath = Exclude<EndpointPath, { kind: "server" }>;

export const VIEW_INSTRUCTIONS: Record<ViewName, string> = {
  default:
    "One endpoint for many MCP servers. Find tools that are not listed with tool_discovery, then run them with tool_execute. To list tools you need often, use build-toolset and equip-toolset.",
  discovery:
    "One endpoint for many MCP servers. Their tools are not listed: find them with tool_discovery, then run them with tool_execute.",
  index:
    "One endpoint for many MCP servers. list_available_tools lists all tools with one line each, get_tool_description describes one in full, tool_execute runs it.",
  optimizer:
    "One endpoint for many MCP servers. Their tools are not listed: find them with optim.find_tool, then call them with optim.call_tool.",
  toolset:
    "One endpoint for many MCP servers. Only the equipped toolset's tools are listed: see all tools with discover-all-tools, and choose others with build-toolset and equip-toolset.",
  all: "One endpoint for many MCP servers, with all their tools.",
};
const GATEWAY_INSTRUCTIONS =
  "Manage the MCP servers behind this gateway: list, add, change, restart and remove them, read their logs, choose which of their tools are enabled, build toolsets, and find descriptions that work.";
const NO_TOOLS: readonly CatalogTool[] = [];

/** The views that show tools of many servers, or the gateway's own. */
export class CombinedViews {
  readonly #options: CombinedViewsOptions;
  readonly #common: Omit<CombinedViewOptions, "instructions" | "listed" | "builtins">;
  readonly #own: OwnTools;
  readonly #servers: Record<ViewName, VisibleServers>;
  readonly #views = new Map<string, CombinedView>();
  readonly #members = new WeakMap<Toolset, ReadonlySet<string>>();
  #all: { snapshot: CatalogSnapshot; tools: CatalogTool[] } | undefined;
  #optimization: OptimizationTools | undefined;

  constructor(options: CombinedViewsOptions) {
    this.#options = options;
    const { names, access: rights, policy, screen, guard, tools, toolDirectory } = options;
    const { mayUse, demandUse } = tools;
    const { onPromptCollisions, offered, settle } = options;
    const links = new GivenLinks(new GivenLinksRepository(options.store));
    this.#common = {
      names,
      rights,
      mayUse,
      demandUse,
      policy,
      screen,
      guard,
      offered,
      settle,
      features: (principal) => ({ onPromptCollisions, links: links.of(principal) }),
    };
    this.#own = this.#ownTools(toolDirectory);
    const nothing = this.#noServers();
    const all: VisibleServers = {
      ...nothing,
      tools: () => this.#allTools(),
      servers: nothing.callable!,
      settled: (_, signal) => options.starting.settled(this.#serverNames(), signal),
      ttlMs: () => options.starting.ttlMs(this.#serverNames()),
    };
    const equipped = {
      ...this.#toolsetServers((principal) => options.equippedBy(principal)),
      callable: all.servers,
    };
    this.#servers = {
      default: equipped,
      discovery: nothing,
      index: nothing,
      optimizer: nothing,
      toolset: equipped,
      all,
    };
  }

  /** Whether `open` can open the endpoint without `prepare`. */
  isReady({ kind }: CombinedPath): boolean {
    return kind !== "gateway" || this.#optimization !== undefined;
  }

  async prepare(path: CombinedPath): Promise<void> {
    if (!this.isReady(path)) this.#optimization = await this.#options.tools.optimization();
  }

  open(path: CombinedPath): McpEndpoint {
    switch (path.kind) {
      case "gateway":
        return this.#endpoint("gateway?", () => this.#openGateway());
      case "default":
        return this.#default(path);
      case "toolset":
        this.#options.toolsets.resolve(path.toolset);
        return this.#endpoint(toolsetKey(path.toolset), () => this.#openToolset(path.toolset));
    }
  }

  #ownTools(directory: ToolDirectory): OwnTools {
    const { toolsets } = this.#options.tools;
    const discovery = discoveryTools(directory);
    const index = indexTools(directory);
    const optimizer = optimizerTools(directory);
    return {
      builtins: new Builtins([...discovery, ...index, ...optimizer, ...toolsets]),
      listed: {
        default: [...discovery, ...toolsets],
        discovery,
        index: [...index, ...discovery.filter(({ name }) => name === "tool_execute")],
        optimizer,
        toolset: toolsets,
        all: [],
      },
    };
  }

  /** How many of the gateway's own tools the default view lists. */
  countBuiltins(principal: string): number {
    const { tools } = this.#options;
    return this.#own.listed.default.filter((tool) => tools.mayUse(principal, tool)).length;
  }

  forgetToolset(name: string): void {
    this.#views.delete(toolsetKey(name));
  }

  #endpoint(key: string, open: () => CombinedView): McpEndpoint {
    let view = this.#views.get(key);
    if (!view) this.#views.set(key, view = open());
    return { key, view };
  }

  #default({ expose, naming, isWhole = false }: CombinedPath & { kind: "default" }): McpEndpoint {
    if (!isViewName(expose)) {
      throw new GatewayError("INVALID_PARAMS", {
        message: `There is no view "${expose.slice(0, 40)}"`,
        recoverySteps: [`Use ?expose= with one of ${VIEW_NAMES.join(", ")}`],
      });
    }
    const isFlat = naming === "flat";
    const key = `mcp?${expose}${isFlat ? "&flat" : ""}${isWhole ? "&whole" : ""}`;
    const endpoint = this.#endpoint(key, () => this.#openDefault(expose, isFlat, isWhole));
    return { ...endpoint, isEquippable: true };
  }

  #openDefault(expose: ViewName, isFlat: boolean, isWhole: boolean): CombinedView {
    const servers = this.#servers[expose];
    const { toolDirectory } = this.#options;
    if (expose !== "toolset" && expose !== "all") toolDirectory.warmUp();
    return new CombinedView({
      ...this.#common,
      account: this.#options.account,
      instructions: VIEW_INSTRUCTIONS[expose],
      listed: this.#own.listed[expose],
      edition: () => toolDirectory.edition,
      flatBuiltins: isFlat,
      builtins: this.#own.builtins,
      ownTools: (offer) => {
        const { listed, builtins } = this.#ownTools(toolDirectory.forOffer(offer));
        return { listed: listed[expose], builtins };
      },
      servers: isWhole ? { ...servers, servers: servers.callable! } : servers,
    });
  }

  #openToolset(name: string): CombinedView {
    const { toolsets, starting, access } = this.#options;
    const find = () => toolsets.find(name);
    const has = ({ server, name }: CatalogTool) => {
      const toolset = find();
      return toolset !== undefined && this.#membersOf(toolset).has(namespacedName(server, name));
    };
    return new CombinedView({
      ...this.#common,
      account: this.#options.account,
      get instructions() {
        return find()?.description ?? `The tools of the toolset "${name}".`;
      },
      listed: [],
      builtins: new Builtins<BuiltinTool>([]),
      servers: {
        ...this.#toolsetServers(find),
        admits: (principal, tool) => has(tool) && access.admits(principal, tool),
        // Other servers do not exist here, whether they are up or not.
        away: (principal) =>
          starting.away(principal).filter(({ name }) =>
            find()?.tools.some(({ server }) => server === name)
          ),
      },
    });
  }

  #openGateway(): CombinedView {
    const { tools, isOptimizing } = this.#options;
    const { always, gated } = this.#optimization!;
    const own = [...tools.servers, ...tools.toolsets, ...always];
    return new CombinedView({
      ...this.#common,
      instructions: GATEWAY_INSTRUCTIONS,
      get listed() {
        return isOptimizing() ? [...own, ...gated] : own;
      },
      edition: () => isOptimizing(),
      builtins: new Builtins([...own, ...gated]),
    });
  }

  #toolsetServers(find: (principal: string) => Toolset | undefined): VisibleServers {
    const { toolsets, starting } = this.#options;
    const serversOf = (principal: string) =>
      find(principal)?.tools.map(({ server }) => server) ?? [];
    const servers = (principal: string) => this.#reachable(serversOf(principal), principal);
    return {
      ...this.#noServers(),
      tools(principal) {
        const toolset = find(principal);
        return toolset ? toolsets.registered(toolset) : NO_TOOLS;
      },
      servers,
      callable: servers,
      settled: (principal, signal) => starting.settled(serversOf(principal), signal),
      ttlMs: (principal) => starting.ttlMs(serversOf(principal)),
    };
  }

  /** Everything can be called, and nothing is listed. */
  #noServers(): VisibleServers {
    const { catalog, pool, starting, access } = this.#options;
    return {
      catalog,
      findServer: (name) => pool.find(name),
      admits: (principal, tool) => access.admits(principal, tool),
      tools: () => NO_TOOLS,
      servers: () => [],
      callable: (principal) => this.#reachable(this.#serverNames(), principal),
      away: (principal) => starting.away(principal),
    };
  }

  #serverNames(): string[] {
    return this.#options.pool.list().map(({ name }) => name);
  }

  #reachable(servers: Iterable<string>, principal: string): string[] {
    const { availability, access } = this.#options;
    return [...new Set(servers)].filter((name) =>
      availability(name) === "available" && access.admitsServer(principal, name)
    ).sort();
  }

  #allTools(): readonly CatalogTool[] {
    const { snapshot } = this.#options.catalog;
    if (this.#all?.snapshot !== snapshot) {
      const servers = [...snapshot.servers].sort(([a], [b]) => a < b ? -1 : 1);
      const tools = servers.flatMap(([, { tools }]) => tools.filter((tool) => tool.enabled));
      this.#all = { snapshot, tools };
    }
    return this.#all.tools;
  }

  #membersOf(toolset: Toolset): ReadonlySet<string> {
    return getOrMake(
      this.#members,
      toolset,
      ({ tools }) => new Set(tools.map(({ server, tool }) => namespacedName(server, tool))),
    );
  }
}

function toolsetKey(name: string): string {
  return `toolsets/${name}?`;
}
