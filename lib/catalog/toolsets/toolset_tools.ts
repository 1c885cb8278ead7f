import type { CatalogTool } from "../catalog_tool.ts";
import { type ErrorCode, GatewayError } from "../../core/errors.ts";
import { nearestNames } from "../../core/text.ts";
import { notConnected } from "../../servers/status.ts";
import type { NameTable } from "../name_table.ts";
import { type ResolveContext, resolveTool } from "../resolve.ts";
import type { ToolReference, Toolset } from "../../core/tool.ts";
import { namespacedName } from "../names.ts";

export interface Unmatched {
  written: string;
  code: ErrorCode;
  reason: string;
  nearest: string[];
}

/** The tools that are meant: by any of their names, or all enabled ones of a server by `server.*`. */
export function chooseTools(
  table: NameTable,
  written: Iterable<string>,
  caller: Pick<ResolveContext, "admits" | "away"> = {},
): { tools: CatalogTool[]; unmatched: Unmatched[] } {
  const view = { table, naming: "namespaced", ...caller } as const;
  const tools = new Set<CatalogTool>();
  const unmatched: Unmatched[] = [];
  for (const name of written) {
    try {
      for (const tool of matching(view, name.trim())) tools.add(tool);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      unmatched.push({
        written: name,
        code: error.code,
        reason: error.message,
        nearest: error.code === "TOOL_NOT_FOUND" ? error.details.suggestedTools ?? [] : [],
      });
    }
  }
  return { tools: [...tools], unmatched };
}

function matching(view: ResolveContext, name: string): CatalogTool[] {
  if (!name.endsWith(".*")) return [resolveTool(view, name)];
  const { table, admits = () => true, away } = view;
  const server = name.slice(0, -2);
  const toolsOf = (name: string) => [...table.server(name)?.original.values() ?? []].filter(admits);
  const tools = toolsOf(server);
  if (tools.length === 0) {
    const owner = away?.().find((status) => status.name === server);
    if (owner) throw notConnected(owner);
    const others = [...table.serverNames()].filter((name) => toolsOf(name).length > 0);
    const near = nearestNames(server, others, 3).map((known) => `${known}.*`);
    throw new GatewayError("TOOL_NOT_FOUND", {
      message: `There is no server "${server.slice(0, 100)}" with tools`,
      suggestedTools: near,
    });
  }
  const enabled = tools.filter((tool) => tool.enabled);
  if (enabled.length > 0) return enabled;
  throw new GatewayError("TOOL_NOT_FOUND", { message: `Server "${server}" has no enabled tools` });
}

/** `coming`: it is being connected to. `unknown`: there is no server of that name. */
export type Availability = "available" | "coming" | "away" | "unknown";

/** `waiting`: its server is not up. `gone`: the tool, or its server, no longer exists. */
export type ToolState = "registered" | "waiting" | "disabled" | "gone";

export interface ToolsetTool {
  reference: ToolReference;
  state: ToolState;
  tool?: CatalogTool;
  /** Its server is starting, so a missing tool is not reported yet. */
  isComing: boolean;
  /** Its definition is another one than when the toolset was saved. */
  isChanged: boolean;
}

export function toolsetState(
  { tools }: Toolset,
  table: NameTable,
  availability: (server: string) => Availability,
): ToolsetTool[] {
  return tools.map((reference) => {
    const { server, tool: name, fingerprint } = reference;
    const tool = table.find(server, name);
    const available = availability(server);
    const state = stateOf(tool, available);
    return {
      reference,
      state,
      isComing: available === "coming",
      ...(tool ? { tool } : {}),
      isChanged: tool !== undefined && fingerprint !== undefined &&
        tool.fingerprint !== fingerprint,
    };
  });
}

function stateOf(tool: CatalogTool | undefined, availability: Availability): ToolState {
  if (availability === "unknown") return "gone";
  if (tool && !tool.enabled) return "disabled";
  if (availability === "available") return tool ? "registered" : "gone";
  // A tool known from the last run is available right away; a call waits for its server.
  return tool && availability === "coming" ? "registered" : "waiting";
}

function skippedText(server: string, tools: readonly ToolsetTool[]): string {
  return `${server} server unavailable, skipping tools: ${namesOf(tools)}`;
}

export function skippedServers(tools: readonly ToolsetTool[]): string[] {
  const waiting = tools.filter(({ state }) => state === "waiting");
  return [...Map.groupBy(waiting, ({ reference }) => reference.server)]
    .map(([server, away]) =>
      away.some(({ isComing }) => isComing)
        ? `${server} server is still starting (SERVER_STARTING); its tools are added when it is ready: ${
          namesOf(away)
        }`
        : skippedText(server, away)
    );
}

export function startingServers(tools: readonly ToolsetTool[]): string[] {
  const coming = tools.filter(({ state, isComing }) => state === "waiting" && isComing);
  return [...new Set(coming.map(({ reference }) => reference.server))];
}

function namesOf(tools: readonly ToolsetTool[]): string {
  return tools.map(({ reference }) => namespacedName(reference.server, reference.tool)).join(", ");
}

interface ToolsetNewsOptions {
  flatName(tool: ToolsetTool): string;
  onNews(level: "info" | "warn", message: string): void;
}

export class ToolsetNews {
  readonly #options: ToolsetNewsOptions;
  /** By toolset id: servers whose tools wait for them. */
  #waiting = new Map<string, Set<string>>();

  constructor(options: ToolsetNewsOptions) {
    this.#options = options;
  }

  forget({ id }: Toolset): void {
    this.#waiting.delete(id);
  }

  check(equipped: ReadonlyMap<Toolset, readonly ToolsetTool[]>): void {
    const waiting = new Map<string, Set<string>>();
    for (const [{ id }, tools] of equipped) waiting.set(id, this.#check(id, tools));
    this.#waiting = waiting;
  }

  #check(id: string, tools: readonly ToolsetTool[]): Set<string> {
    const before = this.#waiting.get(id);
    const waiting = new Set<string>();
    for (const [server, own] of Map.groupBy(tools, ({ reference }) => reference.server)) {
      const away = own.filter(({ state }) => state === "waiting");
      if (own.some(({ isComing }) => isComing)) {
        // Neither away nor back yet: what was told of it still holds.
        if (before?.has(server)) waiting.add(server);
        continue;
      }
      if (away.length > 0) {
        waiting.add(server);
        if (!before?.has(server)) this.#options.onNews("warn", skippedText(server, away));
        continue;
      }
      const back = own.filter(({ state }) => state === "registered");
      if (!before?.has(server) || back.length === 0) continue;
      const names = back.map((tool) => this.#options.flatName(tool)).join(", ");
      this.#options.onNews("info", `${server} server reconnected, registering tools: ${names}`);
    }
    return waiting;
  }
}
