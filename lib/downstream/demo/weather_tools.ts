import { z } from "zod";
import { addDays, alertsOn, weatherOn } from "./weather_data.ts";

/** The day the demo is set on, so that its answers never change. */
const TODAY = "2026-01-15";
const MAX_DAYS = 14;

const location = z.string().trim().min(1).max(200)
  .describe('City, with region or country where needed, for example "Lisbon, Portugal"');
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
