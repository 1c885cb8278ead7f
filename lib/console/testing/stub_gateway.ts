import type { Gateway } from "../../compose.ts";
import { forEachOption, OPTIONS } from "../../config/option_table.ts";
import type { Problem } from "../../config/problem.ts";
import type { ServerStatus } from "../../core/server.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import type { KeptTools } from "../../storage/canonical_tools_repository.ts";

/** The part of the gateway that the console's pages read. */
export type ConsoleGateway = Pick<
  Gateway,
  | "servers"
  | "problems"
  | "options"
  | "address"
  | "startedAt"
  | "version"
  | "platform"
  | "readiness"
>;

interface StubServer extends Partial<ServerStatus> {
  name: string;
  tools?: (Partial<ToolDefinition> & { name: string })[];
  history?: KeptTools;
}

export interface StubInput {
  servers?: StubServer[];
  problems?: Problem[];
  options?: Partial<Gateway["options"]["options"]>;
  storeTrouble?: string;
}

/** A gateway that only answers what pages ask, for tests of what they make of it. */
export function stubGateway(input: StubInput = {}): ConsoleGateway {
  const servers = (input.servers ?? []).map((server) => {
    const tools = (server.tools ?? []).map((tool): ToolDefinition => ({
      inputSchema: { type: "object" },
      ...tool,
    }));
    const status: ServerStatus = {
      type: "stdio",
      source: { kind: "file", path: "/home/me/.mcp.json" },
      state: "ready",
      reason: "Connected",
      since: 1_000,
      toolCount: tools.length,
      ...withoutTools(server),
    };
    return { status, tools, history: server.history ?? { tools: [], invalid: [] } };
  });
  const defaults = forEachOption((name) => OPTIONS[name].fallback);
  return {
    servers: {
      list: () => servers.map(({ status }) => status),
      tools: (name: string) => servers.find(({ status }) => status.name === name)?.tools ?? [],
      log: () => [],
      history: (name: string, tool?: string) => {
        const kept = servers.find(({ status }) => status.name === name)?.history;
        const isWanted = (entry: { name: string }) => tool === undefined || entry.name === tool;
        return Promise.resolve({
          tools: kept?.tools.filter(isWanted) ?? [],
          invalid: kept?.invalid.filter(isWanted) ?? [],
        });
      },
    } as Gateway["servers"],
    problems: input.problems ?? [],
    options: {
      options: { ...defaults, ...input.options } as Gateway["options"]["options"],
      origins: forEachOption((name) => name in (input.options ?? {}) ? "flag" : "default"),
    },
    address: "http://127.0.0.1:3333",
    startedAt: 0,
    version: "1.2.3",
    platform: { name: "local", canSpawn: true, canWrite: true },
    readiness: () => ({
      ready: true,
      degraded: [],
      store: input.storeTrouble === undefined
        ? { state: "ok" }
        : { state: "degraded", reason: input.storeTrouble },
      servers: { total: servers.length, ready: servers.length },
      version: "1.2.3",
      uptimeSeconds: 1,
    }),
  };
}

function withoutTools(
  { tools: _tools, history: _history, ...status }: StubServer,
): Partial<ServerStatus> & { name: string } {
  return status;
}

export function problem(change: Partial<Problem> = {}): Problem {
  return {
    severity: "warning",
    file: "/home/me/.mcp.json",
    line: 3,
    column: 7,
    message: "something is off",
    fix: "set it right",
    ...change,
  };
}
