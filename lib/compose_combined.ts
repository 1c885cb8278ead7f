import { asAbortSignal, type CancelSignal } from "./core/cancellation.ts";
import type { Catalog, CatalogSnapshot } from "./catalog/catalog.ts";
import type { CatalogTool } from "./catalog/catalog_tool.ts";
import { GatewayError } from "./core/errors.ts";
import type { Toolset } from "./core/toolset.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import type { NameTables } from "./routing/name_table.ts";
import { namespacedName, type Naming } from "./routing/names.ts";
import type { OnPromptCollisions } from "./routing/prompt_collisions.ts";
import { type Admits, Builtins } from "./routing/resolve.ts";
import type { Access } from "./auth/access.ts";
import type { CallGate } from "./surfaces/call_gate.ts";
import type { KeptTexts } from "./surfaces/kept_texts.ts";
import { ToolRights } from "./surfaces/tool_rights.ts";
import type { BuiltinTool } from "./surfaces/builtin_tool.ts";
import { CombinedSurface, type ServersShown } from "./surfaces/combined_surface.ts";
import { discoveryTools } from "./surfaces/discovery_tools.ts";
import { indexTools } from "./surfaces/index_tools.ts";
import type { OptimizationTools } from "./surfaces/optimization_tools.ts";
import { optimizerTools } from "./surfaces/optimizer_tools.ts";
import { serverTools } from "./surfaces/server_tools.ts";
import type { ServersAdmin } from "./surfaces/servers_admin.ts";
import type { ToolGuide } from "./surfaces/tool_guide.ts";
import { toolsetTools } from "./surfaces/toolset_tools.ts";
import type { ToolsetsAdmin } from "./surfaces/toolsets_admin.ts";
import { isView, type View, VIEWS } from "./surfaces/views.ts";
import type { Toolsets } from "./toolsets/toolsets.ts";
import type { Availability } from "./toolsets/toolset_state.ts";

export interface ComposeCombinedInput {
  catalog: Catalog;
  pool: ServerPool;
  names: NameTables;
  toolsets: Toolsets;
  availability(server: string): Availability;
  toolsetsAdmin: ToolsetsAdmin;
  admin: ServersAdmin;
  guide: ToolGuide;
  isOptimizing(): boolean;
  access: Access;
  gate?: CallGate | undefined;
  texts?: KeptTexts | undefined;
  onPromptCollisions: OnPromptCollisions;
}

/** How long a list waits for servers that have just begun to connect. */
const SETTLE_MS = 3_000;
const INSTRUCTIONS: Record<View, string> = {
  default:
    "One door to many MCP servers. Tools that are not listed are found with tool_discovery and run with tool_execute. build-toolset and equip-toolset have those you need often listed.",
  discovery:
    "One door to many MCP servers, whose tools are not listed: find them with tool_discovery, then run them with tool_execute.",
  index:
    "One door to many MCP servers. list_available_tools shows all tools in short, get_tool_description one in full, tool_execute runs it.",
  optimizer:
    "One door to many MCP servers, whose tools are not listed: find them with optim.find_tool, then call them with optim.call_tool.",
  toolset:
    "One door to many MCP servers. Only the tools of the equipped toolset are listed: discover-all-tools shows all there are, build-toolset and equip-toolset choose.",
  all: "One door to many MCP servers, with all their tools.",
};
const GATEWAY_INSTRUCTIONS =
  "Manage the MCP servers behind this gateway: list, add, change, restart and remove them, read their logs, choose which of their tools are enabled, build toolsets, and find descriptions that work.";

export type Combined = ReturnType<typeof composeCombined>;

/** Doors that show tools of many servers, or of the gateway's own. */
export function composeCombined(input: ComposeCombinedInput) {
  const { catalog, pool, names, toolsets, availability, guide, access, gate } = input;
  const admits: Admits = (principal, tool) => access.admits(principal, tool);
  const ofToolsets = toolsetTools(input.toolsetsAdmin);
  const ofServers = serverTools(input.admin);
  const discovery = discoveryTools(guide);
  const index = indexTools(guide);
  const optimizer = optimizerTools(guide);
  const findServer = (name: string) => pool.find(name);

  const rights = new ToolRights(access);
  rights.ofGateway(ofServers);
  rights.ofToolsets(ofToolsets);
  const common = {
    names,
    rights: access,
    mayUse: (principal: string, tool: BuiltinTool) => rights.mayUse(principal, tool),
    demandUse: (principal: string, tool: BuiltinTool) => rights.demand(principal, tool),
    ...(gate ? { gate } : {}),
    ...(input.texts ? { texts: input.texts } : {}),
    onPromptCollisions: input.onPromptCollisions,
  };

  function reachable(servers: Iterable<string>, principal: string): string[] {
    return [...new Set(servers)].filter((name) =>
      availability(name) === "available" && access.admitsServer(principal, name)
    ).sort();
  }

  /** Waits for those of the servers that are on their way. */
  function settled(servers: Iterable<string>, signal: CancelSignal): Promise<void> | undefined {
    const now = Date.now();
    // Those that take long are not waited for, or one of them would delay everybody.
    const coming = [...new Set(servers)].flatMap((name) => pool.find(name) ?? [])
      .filter(({ status }) => status.state === "connecting" && now - status.since < SETTLE_MS);
    if (coming.length === 0) return undefined;
    const limit = AbortSignal.any([asAbortSignal(signal), AbortSignal.timeout(SETTLE_MS)]);
    return Promise.allSettled(coming.map((server) => server.connection(limit))).then(() => {});
  }

  const members = new WeakMap<Toolset, ReadonlySet<string>>();
  function membersOf(toolset: Toolset): ReadonlySet<string> {
    let known = members.get(toolset);
    if (!known) {
      known = new Set(toolset.tools.map(({ server, tool }) => namespacedName(server, tool)));
      members.set(toolset, known);
    }
    return known;
  }

  function shownOf(find: (principal: string) => Toolset | undefined): ServersShown {
    const serversOf = (principal: string) =>
      find(principal)?.tools.map(({ server }) => server) ?? [];
    return {
      catalog,
      findServer,
      admits,
      tools(principal) {
        const toolset = find(principal);
        return toolset ? toolsets.registered(toolset) : NONE;
      },
      servers: (principal) => reachable(serversOf(principal), principal),
      settled: (principal, signal) => settled(serversOf(principal), signal),
    };
  }

  let all: { snapshot: CatalogSnapshot; tools: CatalogTool[] } | undefined;
  const everything: ServersShown = {
    catalog,
    findServer,
    admits,
    tools() {
      const { snapshot } = catalog;
      if (all?.snapshot !== snapshot) {
        const servers = [...snapshot.servers].sort(([a], [b]) => a < b ? -1 : 1);
        const tools = servers.flatMap(([, { tools }]) => tools.filter((tool) => tool.enabled));
        all = { snapshot, tools };
      }
      return all.tools;
    },
    servers: (principal) => reachable(pool.list().map(({ name }) => name), principal),
    settled: (_, signal) => settled(pool.list().map(({ name }) => name), signal),
  };

  const builtins = new Builtins([
    ...discovery,
    ...index,
    ...optimizer,
    ...ofToolsets,
  ]);
  /** Everything can be called, and nothing is listed. */
  const nothing: ServersShown = {
    catalog,
    findServer,
    admits,
    tools: () => NONE,
    servers: () => [],
  };
  const equipped = shownOf((principal) => input.toolsetsAdmin.equippedBy(principal));
  const surfaces = new Map<string, CombinedSurface>();
  const known = (key: string, make: () => CombinedSurface) => {
    let surface = surfaces.get(key);
    if (!surface) surfaces.set(key, surface = make());
    return surface;
  };

  const execute = discovery.filter(({ name }) => name === "tool_execute");
  const listed: Record<View, BuiltinTool[]> = {
    default: [...discovery, ...ofToolsets],
    discovery,
    index: [...index, ...execute],
    optimizer,
    toolset: ofToolsets,
    all: [],
  };
  const shown: Record<View, ServersShown> = {
    default: equipped,
    discovery: nothing,
    index: nothing,
    optimizer: nothing,
    toolset: equipped,
    all: everything,
  };

  function openDefault(expose: View, flat: boolean): CombinedSurface {
    if (expose !== "toolset" && expose !== "all") guide.warmUp();
    return new CombinedSurface({
      ...common,
      instructions: INSTRUCTIONS[expose],
      listed: listed[expose],
      edition: () => guide.edition,
      flatBuiltins: flat,
      builtins,
      shown: shown[expose],
    });
  }

  function openToolset(name: string): CombinedSurface {
    const find = () => toolsets.find(name);
    const has = ({ server, name }: CatalogTool) => {
      const toolset = find();
      return toolset !== undefined && membersOf(toolset).has(namespacedName(server, name));
    };
    return new CombinedSurface({
      ...common,
      get instructions() {
        return find()?.description ?? `The tools of the toolset "${name}".`;
      },
      listed: [],
      builtins: new Builtins<BuiltinTool>([]),
      shown: {
        ...shownOf(find),
        admits: (principal, tool) => has(tool) && admits(principal, tool),
      },
    });
  }

  function openGateway({ always, gated }: OptimizationTools): CombinedSurface {
    const own = [...ofServers, ...ofToolsets, ...always];
    rights.ofGateway(always);
    rights.ofModels(gated);
    return new CombinedSurface({
      ...common,
      instructions: GATEWAY_INSTRUCTIONS,
      // What spends model time is not offered where nobody has allowed that.
      get listed() {
        return input.isOptimizing() ? [...own, ...gated] : own;
      },
      edition: () => input.isOptimizing(),
      builtins: new Builtins([...own, ...gated]),
    });
  }

  return {
    gateway: (tools: OptimizationTools) => known("gateway?", () => openGateway(tools)),
    default(expose: string, naming: Naming | undefined) {
      if (!isView(expose)) {
        throw new GatewayError("INVALID_PARAMS", {
          message: `There is no view "${expose.slice(0, 40)}"`,
          recoverySteps: [`Use ?expose= with one of ${VIEWS.join(", ")}`],
        });
      }
      const isFlat = naming === "flat";
      const key = `mcp?${expose}${isFlat ? "&flat" : ""}`;
      return { key, surface: known(key, () => openDefault(expose, isFlat)) };
    },
    toolset(name: string) {
      toolsets.resolve(name);
      return known(`toolsets/${name}?`, () => openToolset(name));
    },
    /** The surface of a door that has been opened. */
    find: (door: string) => surfaces.get(door),
    forgetToolset: (name: string) => surfaces.delete(`toolsets/${name}?`),
  };
}

const NONE: readonly CatalogTool[] = [];
