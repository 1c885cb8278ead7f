// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types";
import * as z from "zod";
import { addDays, alertsOn, weatherOn } from "./data/weather.ts";
import { VERSION } from "../../core/product.ts";

/** The day the demo is set on, so that its answers never change. */
const TODAY = "2026-01-15";
const MAX_DAYS = 14;
const MAX_HISTORY_DAYS = 31;
const RADAR_CELLS = 10;

const location = z.string().trim().min(1).max(200)
  .describe('City, with region or country if needed, for example "Lisbon, Portugal"');
const day = z.iso.date();
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** The built-in demo: an MCP server with made-up weather. */
export function weatherServer(): McpServer {
  const server = new McpServer(
    { name: "weather", title: "Weather (demo)", version: VERSION },
    { instructions: "A demo with made-up weather. The same question always gets the same answer." },
  );
  server.registerTool(
    "get_forecast",
    {
      title: "Weather forecast",
      description: "Get weather forecast data",
      inputSchema: z.strictObject({
        location,
        days: z.int().min(1).max(MAX_DAYS).default(3).describe("Number of days, starting tomorrow"),
      }),
      annotations,
    },
    ({ location, days }) => result({ location, days: daysFrom(addDays(TODAY, 1), days, location) }),
  );
  server.registerTool("get_current", {
    title: "Current weather",
    description: "Get current weather conditions",
    inputSchema: z.strictObject({ location }),
    annotations,
  }, ({ location }) => {
    const { condition, highC, lowC, windKph } = weatherOn(location, TODAY);
    const temperatureC = (highC + lowC) / 2;
    return result({ location, observedAt: `${TODAY}T12:00:00Z`, condition, temperatureC, windKph });
  });
  server.registerTool("get_alerts", {
    title: "Weather alerts",
    description: "Get severe weather alerts",
    inputSchema: z.strictObject({ location }),
    annotations,
  }, ({ location }) => result({ location, date: TODAY, alerts: alertsOn(location, TODAY) }));
  server.registerTool("get_historical", {
    title: "Historical weather",
    description: "Historical weather data",
    inputSchema: z.strictObject({
      location,
      from: day.describe("First day, as YYYY-MM-DD"),
      to: day.describe("Last day, as YYYY-MM-DD; at most 31 days after the first"),
    }),
    annotations,
  }, ({ location, from, to }) => {
    const days = daysFrom(from, MAX_HISTORY_DAYS, location).filter(({ date }) => date <= to);
    return result({ location, days });
  });
  server.registerTool("get_radar", {
    title: "Weather radar",
    description: "Radar and satellite imagery",
    inputSchema: z.strictObject({
      location,
      layer: z.enum(["precipitation", "clouds", "wind"]).default("precipitation")
        .describe("What the picture shows"),
    }),
    annotations,
  }, ({ location, layer }) => result({ location, layer, grid: radar(`${location}/${layer}`) }));
  return server;
}

function daysFrom(first: string, count: number, location: string) {
  return Array.from({ length: count }, (_, index) => weatherOn(location, addDays(first, index)));
}

/** Ten by ten cells, 0 (nothing) to 9 (most), north at the top. */
function radar(place: string): string[] {
  const cells = Array.from({ length: RADAR_CELLS }, (_, index) => index);
  return cells.map((row) =>
    cells.map((column) => weatherOn(`${place}/${row}/${column}`, TODAY).windKph % 10).join("")
  );
}

function result(structuredContent: Record<string, unknown>): CallToolResult {
  const text = JSON.stringify(structuredContent, null, 2);
  return { content: [{ type: "text", text }], structuredContent };
}
