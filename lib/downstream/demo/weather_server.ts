import { z } from "zod";
import { VERSION } from "../../core/version.ts";
import { WEATHER_TOOLS } from "./weather_tools.ts";

const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const Request = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({}).optional(),
});

type Answer = { result: unknown } | { error: { code: number; message: string } };

/** The built-in demo: an MCP server that runs in this process and answers with made-up weather. */
export class WeatherServer {
  /** One JSON-RPC message in, its answer out; a notification has none. */
  handle(message: unknown): Record<string, unknown> | undefined {
    const parsed = Request.safeParse(message);
    if (!parsed.success) return rpc(null, invalid(-32600, "Not a JSON-RPC request"));
    const { id, method, params } = parsed.data;
    if (id === undefined) return undefined;
    return rpc(id, answer(method, params ?? {}));
  }
}

function answer(method: string, params: Record<string, unknown>): Answer {
  switch (method) {
    case "initialize":
      return { result: initialize(params) };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: listTools() } };
    case "tools/call":
      return callTool(params);
    default:
      return invalid(-32601, `Method not found: ${method}`);
  }
}

function initialize({ protocolVersion }: Record<string, unknown>) {
  return {
    protocolVersion: PROTOCOL_VERSIONS.find((known) => known === protocolVersion) ??
      PROTOCOL_VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "weather", title: "Weather (demo)", version: VERSION },
    instructions: "A demo with made-up weather. The same question always gets the same answer.",
  };
}

function listTools() {
  return Object.entries(WEATHER_TOOLS).map(([name, { title, description, input }]) => {
    const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
    return {
      name,
      title,
      description,
      inputSchema,
      annotations: { title, readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    };
  });
}

function callTool({ name, arguments: args = {} }: Record<string, unknown>): Answer {
  const tool = typeof name === "string" && Object.hasOwn(WEATHER_TOOLS, name)
    ? WEATHER_TOOLS[name]
    : undefined;
  if (!tool) return invalid(-32602, `Unknown tool: ${String(name)}`);
  const input = tool.input.safeParse(args);
  if (!input.success) {
    const text = `Invalid arguments for ${name}: ${z.prettifyError(input.error)}`;
    return { result: { content: [{ type: "text", text }], isError: true } };
  }
  const structuredContent = tool.run(input.data);
  const text = JSON.stringify(structuredContent, null, 2);
  return { result: { content: [{ type: "text", text }], structuredContent } };
}

function rpc(id: string | number | null, answer: Answer): Record<string, unknown> {
  return { jsonrpc: "2.0", id, ...answer };
}

function invalid(code: number, message: string): Answer {
  return { error: { code, message } };
}
