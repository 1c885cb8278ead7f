import { CATEGORIES, type GoldenPrompt } from "../../core/optimization.ts";
import type { ShownTool } from "../evaluators/evaluator.ts";
import type { SelectedTool } from "../jobs/selection.ts";
import type { OwnParameterTexts, ToolText } from "../../core/tool_text.ts";
import type { Target, Targets } from "../targets.ts";
import { aPrompt } from "./runs.ts";
import type { Script } from "./scripted_evaluator.ts";

export const TARGET = "weather_get_forecast";
export const POOR = "Does things.";
export const GOOD = "GOOD: tells the weather of the days to come.";
export const GREEDY = "GREEDY: always use this.";

const NAMES = ["get_forecast", "get_alerts", "list_stations"];

/** Two tools and more of one server. */
export class WeatherSubjects implements Targets {
  /** What the server itself says of each of its tools. */
  canonical = POOR;
  /** And of their parameters. */
  parameters: OwnParameterTexts = {};
  readonly disabled = new Set<string>();
  readonly missing = new Set<string>();
  /** Own names of the shop's tools that are equipped. */
  equippedTools: string[] = [];

  find(server: string, tool: string): Target | undefined {
    if (server !== "weather" || !NAMES.includes(tool) || this.missing.has(tool)) return undefined;
    return {
      server,
      name: tool,
      description: this.canonical,
      definition: { name: tool, description: this.canonical, inputSchema: { type: "object" } },
      parameters: this.parameters,
      siblings: NAMES.filter((name) => name !== tool)
        .map((name) => ({ name, description: `About ${name}` })),
      enabled: !this.disabled.has(tool),
      flatName: `weather_${tool}`,
      canonicalDescription: this.canonical,
    };
  }

  tools(server?: string) {
    if (server !== undefined && server !== "weather") return [];
    return NAMES.map((tool) => ({
      server: "weather",
      tool,
      enabled: !this.disabled.has(tool),
      canonical: "",
    }));
  }

  searched() {
    return NAMES.map((name) => ({
      server: "weather",
      name,
      definition: { name, description: `About ${name}`, inputSchema: { type: "object" as const } },
    }));
  }

  equipped(): SelectedTool[] {
    return this.equippedTools.map((tool) => ({ server: "shop", tool }));
  }

  equippedName(principal?: string): string | undefined {
    return principal === "ada" ? "small" : undefined;
  }

  toolset(name: string): SelectedTool[] {
    return name === "small"
      ? [{ server: "weather", tool: "get_forecast" }, { server: "shop", tool: "refund" }]
      : [];
  }

  shown(
    server: string,
    tool: string,
    given: ToolText,
    beside: readonly SelectedTool[],
    only?: readonly SelectedTool[],
  ): ShownTool[] {
    const names = NAMES.filter((name) => only?.some((one) => one.tool === name) ?? true);
    const own = names.map((name) =>
      shownTool(
        server,
        name,
        name === tool ? given : { description: `About ${name}` },
        this.parameters,
      )
    );
    const others = beside.filter((other) => !this.missing.has(other.tool));
    return [
      ...own,
      ...others.map((other) => shownTool(other.server, other.tool, { description: "Other" })),
    ];
  }
}

function shownTool(
  server: string,
  tool: string,
  { description, parameters }: ToolText,
  own: OwnParameterTexts = {},
): ShownTool {
  const name = `${server}_${tool}`;
  const described = Object.entries({ ...own, ...parameters })
    .map(([path, description]) => [path, { type: "string", description }]);
  const properties = described.length > 0 ? { properties: Object.fromEntries(described) } : {};
  const inputSchema = { type: "object", ...properties };
  const text = JSON.stringify({ name, description, inputSchema });
  return { name, server, tool, text };
}

/** So many of each category; what is meant for the tool has the word "weather" in it. */
export function somePrompts(each = 5, more: Partial<GoldenPrompt> = {}): GoldenPrompt[] {
  return CATEGORIES.flatMap((category) =>
    Array.from({ length: each }, (_, index) =>
      aPrompt(`${category}-${index}`, category, {
        prompt: `${category} ${index} ${category === "negative" ? "of cooking" : "of weather"}`,
        ...more,
      }))
  );
}

/** Knows the right tool where the description is good, takes all where it is greedy, else none. */
export const byDescription: Script = ({ prompt, description }, { target }) => {
  if (description.startsWith("GREEDY")) return [target];
  return description.startsWith("GOOD") && prompt.includes("weather") ? [target] : [];
};
