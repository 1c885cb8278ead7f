import { z } from "zod";
import { categoryDescription } from "../catalog/tool_category.ts";
import type { ServerState } from "../core/server.ts";
import { shortened } from "../core/shortened.ts";
import { expirationOf } from "../routing/tool_keys.ts";
import { builtin, type BuiltinTool, jsonResult } from "./builtin_tool.ts";
import { forwardTo, ToolArguments } from "./execute_tool.ts";
import { byServer, serversText } from "./servers_text.ts";
import { type FoundTool, isPoor, type ToolGuide } from "./tool_guide.ts";

const DetailLevel = z.enum(["minimal", "summary", "full"]);
type DetailLevel = z.infer<typeof DetailLevel>;
const DESCRIPTION_CHARS = 150;
const EXAMPLES = 3;
/** Longer ones are sentences in a script without spaces. */
const WORD_CHARS = 20;
const QUERY_FORM = "must be a text, or an array of at least one";
/** A query is said back, but not a whole book. */
const ECHOED_WORDS = 20;

/** Search, then execute: the way to any number of tools through three. */
export function discoveryTools(guide: ToolGuide): BuiltinTool[] {
  return [
    builtin({
      name: "tool_discovery",
      title: "Find tools",
      description: (principal) => discoveryText(guide, principal),
      input: z.strictObject({
        query: z.union([z.array(z.string()).min(1), z.string()], { error: QUERY_FORM })
          .describe("Keywords of what you need, or the task in words"),
        context: z.string().optional().describe("What you are working on"),
        maxResults: z.int().min(1).max(100).default(10),
        detailLevel: DetailLevel.optional().describe("Default summary; full adds schemas"),
        detail_level: DetailLevel.optional().meta({ deprecated: true }),
        category: z.string().optional().describe("One of tool_capabilities"),
      }),
      annotations: { readOnlyHint: true },
      async run({ query, context, maxResults, category, ...levels }, { principal }) {
        const level = levels.detailLevel ?? levels.detail_level ?? "summary";
        const words = typeof query === "string" ? [query] : query;
        const text = words.join(" ");
        const result = await guide.find(principal, { text, context, category, limit: maxResults });
        const tools = await Promise.all(
          result.found.map((found) => describeFound(guide, principal, found, level)),
        );
        const answer = jsonResult({
          tools,
          ...(isPoor(result.found) ? nothingFound(guide, principal, category ?? text) : {}),
          ...(result.degraded === undefined ? {} : { degraded: result.degraded }),
          metadata: {
            query: words.slice(0, ECHOED_WORDS).map((word) => shortened(word, DESCRIPTION_CHARS)),
            detailLevel: level,
            resultCount: tools.length,
            expiration: expirationOf(),
          },
        });
        guide.noteSearch(principal, answer.text);
        return answer;
      },
    }),
    builtin({
      name: "tool_execute",
      title: "Execute a tool",
      forwards: true,
      description:
        "Run a tool that tool_discovery found. Pass its toolKey (valid for 60 minutes; when it has expired, discover again) or its name, and the tool's own arguments.",
      input: z.strictObject({
        toolKey: z.string().describe("toolKey or name of the tool"),
        arguments: ToolArguments.default({}).describe("The tool's arguments"),
      }),
      async run({ toolKey, arguments: args }, { principal }) {
        return forwardTo(await guide.resolve(principal, toolKey), args, "arguments");
      },
    }),
    builtin({
      name: "tool_capabilities",
      title: "Show what there is",
      description:
        "Show categories and servers with their numbers of tools and examples, to know what to look for. Gives no toolKeys: use tool_discovery for those.",
      input: z.strictObject({ server: z.string().optional(), category: z.string().optional() }),
      annotations: { readOnlyHint: true },
      run({ server, category }, { principal }) {
        return Promise.resolve(jsonResult(capabilities(guide, principal, server, category)));
      },
    }),
  ];
}

async function describeFound(
  guide: ToolGuide,
  principal: string,
  { tool, relevance, explanation }: FoundTool,
  level: DetailLevel,
): Promise<Record<string, unknown>> {
  const { description = "", inputSchema, outputSchema, annotations } = tool.definition;
  const minimal = {
    toolKey: await guide.keyFor(tool, principal),
    toolName: tool.name,
    serverName: tool.server,
  };
  if (level === "minimal") return minimal;
  if (level === "summary") {
    return { ...minimal, description: shortened(description, DESCRIPTION_CHARS), relevance };
  }
  const { category, deprecated } = guide.metadata(tool);
  return {
    ...minimal,
    serverId: tool.server,
    name: guide.nameOf(tool),
    description,
    relevance,
    explanation,
    category,
    ...(deprecated === undefined ? {} : { deprecated }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function nothingFound(guide: ToolGuide, principal: string, written: string) {
  const total = guide.visible(principal).length;
  if (total === 0) {
    return {
      hint: "There are no tools: no server is connected. Call tool_capabilities to see why.",
    };
  }
  return {
    hint:
      "Nothing fits well. Use other or fewer words, drop the category, or look at tool_capabilities.",
    nearestCategories: guide.nearestCategories(principal, written),
  };
}

function capabilities(guide: ToolGuide, principal: string, server?: string, category?: string) {
  const wanted = category?.toLowerCase();
  const tools = guide.visible(principal).filter((tool) =>
    (server === undefined || tool.server === server) &&
    (wanted === undefined || guide.metadata(tool).category === wanted)
  );
  const owners = new Map(byServer(tools));
  // Those without tools too, unless it is tools of a category that are asked for.
  if (wanted === undefined) {
    for (const name of guide.servers(principal)) {
      if ((server ?? name) === name && !owners.has(name)) owners.set(name, []);
    }
  }
  const servers = [...owners].map(([name, own]) => ({
    name,
    serverId: name,
    toolCount: own.length,
    status: statusOf(guide.serverState(name)),
    categories: guide.categories(own).map(([category]) => category),
    examples: own.slice(0, EXAMPLES).map((tool) => tool.name),
  }));
  return {
    totalTools: tools.length,
    categories: guide.categories(tools).map(([name, own]) => ({
      name,
      description: categoryDescription(name) ?? name,
      toolCount: own.length,
      examples: own.slice(0, EXAMPLES).map((tool) => tool.name),
    })),
    servers,
    ...(tools.length === 0 ? nothingThere(guide, principal, category, server) : {}),
  };
}

function nothingThere(guide: ToolGuide, principal: string, category?: string, server?: string) {
  if (guide.visible(principal).length === 0) {
    return { hint: "No server has tools now: see their status." };
  }
  if (category !== undefined) return nothingFound(guide, principal, category);
  return {
    hint: `There is no server "${server?.slice(0, 100)}" with tools. Leave server out to see all.`,
  };
}

function statusOf(state: ServerState | undefined): "running" | "stopped" | "error" {
  if (state === "ready" || state === "degraded") return "running";
  return state === "failed" || state === "needs_login" ? "error" : "stopped";
}

/** Made from what is connected now, so that a model knows what to look for. */
function discoveryText(guide: ToolGuide, principal: string): string {
  const tools = guide.visible(principal);
  if (tools.length === 0) {
    return "Search for tools. No server is connected yet: call tool_capabilities to see why.";
  }
  const examples = byServer(tools).slice(0, EXAMPLES).flatMap(([, [first]]) => {
    const words = guide.metadata(first!).summary.toLowerCase().split(/[^\p{L}\p{N}]+/u)
      .filter(({ length }) => length > 2 && length <= WORD_CHARS).slice(0, 3);
    return words.length === 0 ? [] : [JSON.stringify(words)];
  });
  return [
    `REQUIRED FIRST STEP: search here before you say that you cannot do something. ${tools.length} tools are not listed, to save context.`,
    "1. Call tool_discovery with keywords of what you need. 2. Choose a tool from the answer. 3. Call tool_execute with its toolKey and its arguments (detailLevel full shows them).",
    `Servers: ${serversText(tools)}.`,
    ...(examples.length === 0 ? [] : [`Example queries: ${examples.join(", ")}.`]),
  ].join("\n");
}
