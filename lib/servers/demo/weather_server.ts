import { z } from "zod";
import { addDays, alertsOn, weatherOn } from "./data/weather.ts";
import { VERSION } from "../../core/product.ts";

/** The day the demo is set on, so that its answers never change. */
const TODAY = "2026-01-15";
const MAX_DAYS = 14;

const location = z.string().trim().min(1).max(200)
  .describe('City, with region or country if needed, for example "Lisbon, Portugal"');
const day = z.iso.date();

interface DemoTool<Input extends z.ZodObject = z.ZodObject> {
  title: string;
  description: string;
  input: Input;
  run(input: z.infer<Input>): unknown;
}

function tool<Input extends z.ZodObject>(definition: DemoTool<Input>): DemoTool {
  return definition as unknown as DemoTool;
}

export const WEATHER_TOOLS: Record<string, DemoTool> = {
  get_forecast: tool({
    title: "Weather forecast",
    description: "Get weather forecast data",
    input: z.strictObject({
      location,
      days: z.int().min(1).max(MAX_DAYS).default(3).describe("How many days, from tomorrow on"),
    }),
    run: ({ location, days }) => ({
      location,
      days: Array.from(
        { length: days },
        (_, index) => weatherOn(location, addDays(TODAY, index + 1)),
      ),
    }),
  }),
  get_current: tool({
    title: "Current weather",
    description: "Get current weather conditions",
    input: z.strictObject({ location }),
    run: ({ location }) => {
      const { condition, highC, lowC, windKph } = weatherOn(location, TODAY);
      return {
        location,
        observedAt: `${TODAY}T12:00:00Z`,
        condition,
        temperatureC: (highC + lowC) / 2,
        windKph,
      };
    },
  }),
  get_alerts: tool({
    title: "Weather alerts",
    description: "Get severe weather alerts",
    input: z.strictObject({ location }),
    run: ({ location }) => ({ location, date: TODAY, alerts: alertsOn(location, TODAY) }),
  }),
  get_historical: tool({
    title: "Historical weather",
    description: "Historical weather data",
    input: z.strictObject({
      location,
      from: day.describe("First day, as YYYY-MM-DD"),
      to: day.describe("Last day, as YYYY-MM-DD; at most 31 days after the first"),
    }),
    run: ({ location, from, to }) => {
      const last = addDays(from, 30);
      const days = [];
      for (let date = from; date <= to && date <= last; date = addDays(date, 1)) {
        days.push(weatherOn(location, date));
      }
      return { location, days };
    },
  }),
  get_radar: tool({
    title: "Weather radar",
    description: "Radar and satellite imagery",
    input: z.strictObject({
      location,
      layer: z.enum(["precipitation", "clouds", "wind"]).default("precipitation")
        .describe("What the picture shows"),
    }),
    run: ({ location, layer }) => ({
      location,
      layer,
      // Ten by ten cells, 0 (nothing) to 9 (most), north at the top.
      grid: Array.from({ length: 10 }, (_, row) =>
        Array.from(
          { length: 10 },
          (_, column) => weatherOn(`${location}/${layer}/${row}/${column}`, TODAY).windKph % 10,
        ).join("")),
    }),
  }),
};

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
