import * as z from "zod";
import { argumentProblems } from "../catalog/tool_arguments.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { memberText } from "../core/rpc.ts";
import { namespacedName } from "../catalog/names.ts";
import {
  builtin,
  type BuiltinTool,
  type ForwardedCall,
  jsonResult,
  type ToolContext,
} from "./builtin_tool.ts";
import { categoryDescription } from "../catalog/tool_metadata.ts";
import { isStarting, type ServerState } from "../core/server.ts";
import { didYouMean, shortened } from "../core/text.ts";
import { expirationOf } from "../catalog/tool_keys.ts";
import type { FoundTool } from "../catalog/search/module.ts";
import { answerTokens } from "./token_account.ts";
import { isPoor, searchRecord, type ToolDirectory } from "./tool_directory.ts";

const DetailLevel = z.enum(["minimal", "summary", "full"]);
type DetailLevel = z.infer<typeof DetailLevel>;
const DESCRIPTION_CHARS = 150;
const EXAMPLES = 3;
/** Longer ones are sentences in a script without spaces. */
const WORD_CHARS = 20;
const QUERY_FORM = "must describe what you need, as a string or a non-empty array of strings";
const ECHOED_WORDS = 20;
const MOST_LOOKED_AT = 100;

export function discoveryTools(directory: ToolDirectory): BuiltinTool[] {
  return [
    builtin({
      name: "tool_discovery",
      title: "Find tools",
      description: (principal) => discoveryText(directory, principal),
      input: z.strictObject({
        query: z.union([z.array(z.string()).min(1, QUERY_FORM), z.string()], { error: QUERY_FORM })
          .describe("Keywords for what you need, or a description of the task"),
        context: z.string().optional().describe("What you are working on"),
        maxResults: z.int().min(1).max(100).default(10),
        detailLevel: DetailLevel.optional().describe("Default: summary; full adds schemas"),
        detail_level: DetailLevel.optional().meta({ deprecated: true }),
        category: z.string().optional().describe("A category from tool_capabilities"),
      }),
      annotations: { readOnlyHint: true },
      async run({ query, context, maxResults, category, ...levels }, { principal, client }) {
        const level = levels.detailLevel ?? levels.detail_level ?? "summary";
        const words = typeof query === "string" ? [query] : query;
        const text = words.join(" ");
        checkQuery("query", text);
        await directory.prepare();
        checkCategory(directory, principal, category);
        const result = await directory.find(principal, {
          text,
          context,
          category,
          limit: maxResults,
        });
        const tools = await Promise.all(
          result.found.map((found) =>
            describeFound(directory, { principal, client }, found, level)
          ),
        );
        const used = result.found.map(({ tool }) => tool);
        const skills = await directory.findSkills(principal, text, used);
        const data = {
          tools,
          ...(skills.length > 0 ? { skills } : {}),
          ...(isPoor(result.found) ? nothingFound(directory, principal, text) : {}),
          ...(result.degraded === undefined ? {} : { degraded: result.degraded }),
          ...directory.missing(principal),
          metadata: {
            query: words.slice(0, ECHOED_WORDS).map((word) => shortened(word, DESCRIPTION_CHARS)),
            detailLevel: level,
            resultCount: tools.length,
            expiration: expirationOf(),
          },
        };
        const answer = level === "minimal"
          ? { text: namesText(result.found, data), data }
          : jsonResult(data);
        const tokens = answerTokens(answer);
        return { ...answer, call: searchRecord("tool_discovery", text, result.found, tokens) };
      },
    }),
    builtin({
      name: "tool_execute",
      title: "Execute a tool",
      forwards: true,
      description:
        "Run a tool that is not listed. Pass its name, or the toolKey of a search result (valid for 60 minutes), and the tool's own arguments.",
      input: z.strictObject({
        toolKey: z.string().describe("toolKey or name of the tool"),
        arguments: ToolArguments.default({}).describe("The tool's arguments"),
      }),
      async run({ toolKey, arguments: args }, { principal, signal }) {
        return forwardTo(await directory.resolveKey(principal, toolKey, signal), args, "arguments");
      },
    }),
    builtin({
      name: "tool_capabilities",
      title: "Show capabilities",
      description:
        "Show categories and servers with tool counts and examples, to learn what to search for. Returns no toolKeys: use tool_discovery for those.",
      input: z.strictObject({ server: z.string().optional(), category: z.string().optional() }),
      annotations: { readOnlyHint: true },
      async run({ server, category }, { principal }) {
        await directory.prepare();
        return jsonResult(capabilities(directory, principal, server, category));
      },
    }),
  ];
}

/** One name a line, each as good as a key; models pay for every character. */
function namesText(
  found: readonly FoundTool[],
  { hint, note, degraded }: { hint?: string; note?: string; degraded?: string },
): string {
  return [
    ...found.map(({ tool }) => namespacedName(tool.server, tool.name)),
    ...[hint, note, degraded].filter((line) => line !== undefined),
  ].join("\n");
}

/** An empty query is a mistake, not a search that finds nothing. */
export function checkQuery(argument: string, text: string): void {
  if (text.trim() !== "") return;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `${argument} is empty: describe what you need`,
    recoverySteps: [`Describe what you need in ${argument}, in keywords or a sentence`],
  });
}

function checkCategory(directory: ToolDirectory, principal: string, category?: string): void {
  const known = directory.categories(directory.visible(principal)).map(([name]) => name);
  if (category === undefined || known.length === 0) return;
  if (known.includes(category.toLowerCase())) return;
  const { note } = directory.missing(principal);
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `No tool has the category "${category.slice(0, 100)}"`,
    ...didYouMean(directory.nearestCategories(principal, category)),
    recoverySteps: [
      ...(note === undefined ? [] : [note]),
      "Omit the category, or call tool_capabilities for all categories",
    ],
  });
}

async function describeFound(
  directory: ToolDirectory,
  { principal, client }: Pick<ToolContext, "principal" | "client">,
  { tool, relevance, explanation }: FoundTool,
  level: DetailLevel,
): Promise<Record<string, unknown>> {
  const minimal = {
    toolKey: await directory.keyFor(tool, principal),
    toolName: tool.name,
    serverName: tool.server,
  };
  if (level === "minimal") return minimal;
  const [shown = tool] = directory.shownTo(client, [tool]);
  const { description = "", inputSchema, outputSchema, annotations } = shown.definition;
  if (level === "summary") {
    return { ...minimal, description: shortened(description, DESCRIPTION_CHARS), relevance };
  }
  const { category, deprecated } = directory.metadata(tool);
  return {
    ...minimal,
    serverId: tool.server,
    name: directory.nameOf(tool),
    description,
    relevance,
    explanation,
    category,
    inputSchema,
    ...defined({ deprecated, outputSchema, annotations }),
  };
}

function nothingFound(directory: ToolDirectory, principal: string, written: string) {
  const total = directory.visible(principal).length;
  if (total === 0 && directory.missing(principal).starting) {
    return { hint: "No tools are available yet: search again in a moment." };
  }
  if (total === 0) {
    const hint = "There are no tools: no server is connected. Call tool_capabilities to see why.";
    return { hint };
  }
  return {
    hint:
      "No good match. Use different or fewer words, omit the category, or call tool_capabilities.",
    nearestCategories: directory.nearestCategories(principal, written),
  };
}

function capabilities(
  directory: ToolDirectory,
  principal: string,
  server?: string,
  category?: string,
) {
  const wanted = category?.toLowerCase();
  const tools = directory.visible(principal).filter((tool) =>
    (server === undefined || tool.server === server) &&
    (wanted === undefined || directory.isIn(tool, wanted))
  );
  const owners = new Map(byServer(tools));
  // Includes servers without tools, unless a category was requested.
  if (wanted === undefined) {
    for (const name of directory.servers(principal)) {
      if ((server ?? name) === name && !owners.has(name)) owners.set(name, []);
    }
  }
  const servers = [...owners].map(([name, own]) => ({
    name,
    serverId: name,
    toolCount: own.length,
    status: statusOf(directory.serverState(name)),
    categories: directory.categories(own).map(([category]) => category),
    examples: own.slice(0, EXAMPLES).map((tool) => tool.name),
  }));
  return {
    totalTools: tools.length,
    categories: directory.categories(tools).map(([name, own]) => ({
      name,
      description: categoryDescription(name) ?? name,
      toolCount: own.length,
      examples: own.slice(0, EXAMPLES).map((tool) => tool.name),
    })),
    servers,
    ...directory.missing(principal),
    ...(tools.length === 0 ? nothingThere(directory, principal, category, server) : {}),
  };
}

function nothingThere(
  directory: ToolDirectory,
  principal: string,
  category?: string,
  server?: string,
) {
  const { starting } = directory.missing(principal);
  if (starting && (server === undefined || starting.includes(server))) {
    return { hint: "Ask again in a moment: servers are still starting." };
  }
  if (directory.visible(principal).length === 0) {
    return { hint: "No server has tools right now: see each server's status." };
  }
  if (category !== undefined) return nothingFound(directory, principal, category);
  return {
    hint: `There is no server "${server?.slice(0, 100)}" with tools. Omit server to see all.`,
  };
}

function statusOf(state: ServerState | undefined): "running" | "starting" | "stopped" | "error" {
  if (state !== undefined && isStarting(state)) return "starting";
  if (state === "ready" || state === "degraded") return "running";
  return state === "failed" || state === "needs_login" ? "error" : "stopped";
}

/** Made from what is connected now, so that a model knows what to look for. */
function discoveryText(directory: ToolDirectory, principal: string): string {
  const tools = directory.visible(principal);
  if (tools.length === 0) {
    return "Search for tools. No server is connected yet: call tool_capabilities to see why.";
  }
  const examples = byServer(tools).slice(0, EXAMPLES)
    .flatMap(([server, own]) => exampleQuery(directory, server, own) ?? [])
    .map((query) => JSON.stringify(query));
  return [
    `REQUIRED FIRST STEP: search here before you say that you cannot do something. ${tools.length} tools are not listed, to save context.`,
    "1. Call tool_discovery with what you need. 2. Choose a tool from the result. 3. Call tool_execute with its toolKey and its arguments (detailLevel full shows them).",
    `Servers: ${serversText(tools)}.`,
    ...(examples.length === 0 ? [] : [`Example queries: ${examples.join(", ")}.`]),
  ].join("\n");
}

const VERB =
  /^(?:add|ask|cancel|check|click|close|commit|compare|convert|copy|create|delete|deploy|describe|download|edit|execute|export|extract|fetch|fill|find|generate|get|insert|list|look|merge|move|navigate|open|post|publish|push|query|read|record|refund|remove|rename|reply|resolve|run|save|schedule|search|send|set|share|show|start|stop|store|summarize|take|translate|update|upload|write)$/;

/** What a model would look for one of these tools with, in the words of its name: "create issue". */
function exampleQuery(
  directory: ToolDirectory,
  server: string,
  tools: readonly CatalogTool[],
): string | undefined {
  const known = new Set(wordsOf(server));
  const queries = tools.slice(0, MOST_LOOKED_AT)
    .filter((tool) => directory.metadata(tool).deprecated === undefined)
    .map(({ name }) => wordsOf(name).filter((word) => !known.has(word)))
    .filter(({ length }) => length >= 2 && length <= 4);
  const telling = queries.find(([verb]) => VERB.test(verb!)) ?? queries[0];
  return telling?.join(" ");
}

function wordsOf(name: string): string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u)
    .filter(({ length }) => length > 1 && length <= WORD_CHARS);
}

/** A tool's arguments; some models give the object as a text. */
export const ToolArguments = z.union([
  z.record(z.string(), z.unknown()),
  z.string().transform((text, context) => {
    try {
      const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
      return z.record(z.string(), z.unknown()).parse(value);
    } catch {
      context.addIssue({ code: "custom", message: "must be an object" });
      return z.NEVER;
    }
  }),
], { error: "must be an object" }).meta({ type: "object", anyOf: undefined });

export function forwardTo(
  tool: CatalogTool,
  args: Record<string, unknown>,
  argumentsIn: string,
): ForwardedCall {
  const problems = argumentProblems(tool, args);
  if (problems === undefined) return { forward: tool, argumentsIn };
  const refusal = new GatewayError("INVALID_ARGUMENTS", {
    message: `${namespacedName(tool.server, tool.name)}: ${problems}`,
    recoverySteps: [
      "Correct these arguments and call again",
      "For the tool's full schema, call get_tool_description",
      "For the tool's full schema, call tool_discovery with detailLevel full",
      "For the tool's full schema, call optim.find_tool",
    ],
    suggestedTools: ["get_tool_description", "tool_discovery", "optim.find_tool"],
  });
  return { forward: tool, argumentsIn, refusal };
}

/** The params of a call within a call: the inner arguments as they came, the outer `_meta` with them. */
export function forwardedParams(text: string, name: string, argumentsIn: string): string {
  const params = memberText(text, "params")!;
  const outer = memberText(params, "arguments") ?? "{}";
  const inner = memberText(outer, argumentsIn) ?? "{}";
  const meta = memberText(params, "_meta");
  // Some models give an object as a text.
  const args = inner.startsWith('"') ? JSON.parse(inner).trim() || "{}" : inner;
  const tail = meta === undefined ? "" : `,"_meta":${meta}`;
  return `{"name":${JSON.stringify(name)},"arguments":${args}${tail}}`;
}

const NAMED_SERVERS = 12;
const NAMED_CHARS = 300;

export function byServer(tools: readonly CatalogTool[]): [string, CatalogTool[]][] {
  return [...Map.groupBy(tools, (tool) => tool.server)]
    .sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1));
}

/** Which servers there are, and how many tools each has: "git (12), docker (3), and 4 more". */
export function serversText(tools: readonly CatalogTool[]): string {
  const servers = byServer(tools);
  const named: string[] = [];
  let chars = 0;
  for (const [name, own] of servers.slice(0, NAMED_SERVERS)) {
    chars += name.length;
    if (chars > NAMED_CHARS) break;
    named.push(`${name} (${own.length})`);
  }
  const more = servers.length - named.length;
  return named.join(", ") + (more > 0 ? `, and ${more} more` : "");
}
