import { isProgram, isRemote, type ServerSpec } from "../../core/server.ts";
import { isObject } from "../../core/rpc.ts";
import type { SetUp } from "../../core/task_comparison.ts";
import type { TranscriptCall } from "./transcript.ts";

/** The name of the gateway in the client's config. */
const GATEWAY = "quartermaster";
/** The gateway's own tools that a client may call: they only find and run others. */
export const FINDING = ["tool_discovery", "tool_execute", "tool_capabilities"];

/** A server that a client can be connected to directly, and that the gateway has too. */
export interface ComparedServer {
  name: string;
  /** With its secrets. */
  spec: ServerSpec;
  /** The header for a server that was logged in to. */
  authorization?: string | undefined;
  /** Tools that may be called. */
  tools: readonly string[];
}

/** What the CLI is given, and how its calls are read. */
export interface ClientConfig {
  mcpServers: Record<string, unknown>;
  /** As the CLI names tools, or whole servers. */
  allowed: string[];
  toolOf(call: TranscriptCall): Promise<{ tool: string; arguments: unknown }>;
}

interface Surroundings {
  cwd: string;
  /** What programs get besides their own variables. */
  baseEnv: Record<string, string>;
}

/** As if each server were configured in the client. */
export function directConfig(
  servers: readonly ComparedServer[],
  surroundings: Surroundings,
): ClientConfig {
  const tools = new Map(
    servers.flatMap(({ name, tools }) =>
      tools.map((tool) => [cliName(name, tool), `${name}.${tool}`] as const)
    ),
  );
  return {
    mcpServers: Object.fromEntries(
      servers.map((server) => [server.name, serverConfig(server, surroundings)]),
    ),
    allowed: [...tools.keys()],
    toolOf: ({ name, arguments: args }) =>
      Promise.resolve({ tool: tools.get(name) ?? name, arguments: args }),
  };
}

function serverConfig(
  { spec, authorization }: ComparedServer,
  { cwd, baseEnv }: Surroundings,
): Record<string, unknown> {
  if (isProgram(spec)) {
    const { command, args, env } = spec;
    return {
      type: "stdio",
      // The CLI starts programs in its own folder, where a relative path means something else.
      command: "sh",
      args: ["-c", 'cd "$0" && exec "$@"', spec.cwd ?? cwd, command, ...args],
      env: { ...baseEnv, ...env },
    };
  }
  if (!isRemote(spec)) throw new TypeError(`A ${spec.type} server has no address`);
  const login = authorization === undefined ? {} : { Authorization: authorization };
  return { type: spec.type, url: spec.url, headers: { ...spec.headers, ...login } };
}

interface GatewayConfig {
  address: string;
  token: string;
  setup: SetUp;
  /** Flat names of tools that are listed at /mcp besides the gateway's own. */
  equipped: readonly string[];
  /** `server.tool` by flat name, or by a key that the gateway gave out. */
  nameOf(keyOrName: string): Promise<string | undefined>;
}

/** As if the gateway were the client's only server. */
export function gatewayConfig(
  { address, token, setup, equipped, nameOf }: GatewayConfig,
): ClientConfig {
  const [surface = ""] = setup.split("@");
  const url = `${address}${pathOf(surface)}${isCanonical(setup) ? "?descriptions=canonical" : ""}`;
  const own = `mcp__${GATEWAY}`;
  return {
    mcpServers: {
      [GATEWAY]: { type: "http", url, headers: { Authorization: `Bearer ${token}` } },
    },
    // Its other tools there change what the gateway shows.
    allowed: surface === "gateway"
      ? [...FINDING, ...equipped].map((name) => cliName(GATEWAY, name))
      : [own],
    async toolOf({ name, arguments: args }) {
      if (!name.startsWith(`${own}__`)) return { tool: name, arguments: args };
      const tool = name.slice(`${own}__`.length);
      if (tool !== "tool_execute" || !isObject(args)) {
        return { tool: await nameOf(tool) ?? tool, arguments: args };
      }
      const found = await nameOf(String(args.toolKey));
      return { tool: found ?? tool, arguments: found === undefined ? args : args.arguments ?? {} };
    },
  };
}

export function isCanonical(setup: SetUp): boolean {
  return setup.endsWith("@canonical");
}

function pathOf(surface: string): string {
  const [kind, name = ""] = surface.split(":");
  if (kind === "toolset") return `/toolsets/${name}/mcp`;
  return kind === "server" ? `/servers/${name}/mcp` : "/mcp";
}

/** A tool's name as the CLI shows it to the model. */
function cliName(server: string, tool: string): string {
  const plain = (name: string) => name.replace(/[^A-Za-z0-9_-]/g, "_");
  return `mcp__${plain(server)}__${plain(tool)}`;
}
