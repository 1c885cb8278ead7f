import * as z from "zod";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { namespacedName } from "../catalog/names.ts";
import { EVERYONE } from "../core/access.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { searchRecord } from "../mcp/tool_directory.ts";
import { nearestNames } from "../core/text.ts";
import { ToolDefinition } from "../core/tool.ts";
import { fieldHints } from "./fields.ts";
import { operation, READS } from "./operation.ts";
import type { Services } from "./services.ts";

const FoundTool = z.object({
  server: z.string(),
  name: z.string(),
  namespacedName: z.string(),
  flatName: z.string(),
  summary: z.string(),
  category: z.string(),
  tokens: z.number().optional(),
  relevance: z.number().optional().describe("From 0 to 1"),
  explanation: z.string().optional(),
  scores: z.record(z.string(), z.number().optional()).optional()
    .describe("What each field adds to its rank"),
});
type FoundTool = z.infer<typeof FoundTool>;

const SearchOutput = z.object({
  query: z.string(),
  found: z.array(FoundTool),
  more: z.int().describe("Number of tools not returned; known only without a query"),
  degraded: z.string().optional().describe("Why the results may be incomplete"),
});
type SearchOutput = z.infer<typeof SearchOutput>;

const search = operation({
  ...READS,
  name: "tool.search",
  title: "Search for tools",
  description: "Find tools by what they do, best match first. Models use the same search.",
  input: z.strictObject({
    query: z.string().trim().default("").describe("What the tool should do; empty lists all tools")
      .register(fieldHints, { completes: "nothing" }),
    category: z.string().optional().describe("Only tools of this category")
      .register(fieldHints, { placeholder: "NAME" }),
    server: z.string().optional().describe("Only this server's tools")
      .register(fieldHints, { completes: "server", placeholder: "NAME" }),
    limit: z.int().min(1).max(100).default(10).describe("Maximum number of tools: 1 to 100")
      .register(fieldHints, { placeholder: "N" }),
  }),
  output: SearchOutput,
  isLive: true,
  cli: "search QUERY",
  async run(services, { query, server, limit, ...filter }, call): Promise<SearchOutput> {
    const { toolDirectory, tokens } = services;
    const started = performance.now();
    const category = filter.category?.toLowerCase();
    await toolDirectory.prepare();
    const all = toolDirectory.visible(EVERYONE);
    void tokens.prepare(toolDirectory.visible(EVERYONE, true)).catch(() => {});
    checkKnown("server", server, all.map((tool) => tool.server));
    checkKnown("category", category, toolDirectory.categories(all).map(([name]) => name));
    if (query === "") {
      const admitted = all.filter((tool) =>
        (server === undefined || tool.server === server) &&
        (category === undefined || toolDirectory.isIn(tool, category))
      ).sort((a, b) => sortKey(a) < sortKey(b) ? -1 : 1);
      const shown = admitted.slice(0, limit).map((tool) => describe(toolDirectory, tool));
      return { query, found: shown, more: admitted.length - shown.length };
    }
    const wanted = { text: query, category, server, limit };
    const { found, degraded } = await toolDirectory.find(EVERYONE, wanted);
    const output = {
      query,
      found: found.map(({ tool, relevance, explanation, scores }) => ({
        ...describe(toolDirectory, tool),
        relevance,
        explanation,
        ...defined({ scores }),
      })),
      more: 0,
      ...defined({ degraded }),
    };
    services.recorder.record({
      call: searchRecord("tool.search", query, found),
      request: JSON.stringify({ params: { arguments: { query, server, ...filter } } }),
      principal: call.principal,
      session: { id: call.via, endpoint: call.via, profile: {} },
      answer: {
        text: JSON.stringify({ result: output }),
        isError: false,
        started,
        ms: performance.now() - started,
      },
    });
    return output;
  },
});

/** Every tool of every server, and what their names depend on. */
export const AllTools = z.object({
  tools: z.array(z.object({
    server: z.string(),
    name: z.string().describe("The server's own name for it"),
    enabled: z.boolean(),
    definition: ToolDefinition,
  })),
  maxNameLength: z.int().describe("Maximum length of the gateway's tool names"),
});
export type AllTools = z.infer<typeof AllTools>;

const list = operation({
  ...READS,
  name: "tool.list",
  title: "List all tools",
  description: "List every tool of every server with its definition, including disabled tools.",
  input: z.strictObject({}),
  output: AllTools,
  run: ({ admin, catalog, names }) => ({
    tools: admin.list().flatMap(({ name }) => catalog.of(name).tools)
      .map(({ server, name, enabled, definition }) => ({ server, name, enabled, definition })),
    maxNameLength: names.maxLength,
  }),
});

export const TOOL_OPERATIONS = { search, list };

function describe(toolDirectory: Services["toolDirectory"], tool: CatalogTool): FoundTool {
  const { summary, category } = toolDirectory.metadata(tool);
  const tokens = toolDirectory.tokensOf(tool);
  return {
    server: tool.server,
    name: tool.name,
    namespacedName: namespacedName(tool.server, tool.name),
    flatName: toolDirectory.nameOf(tool),
    summary,
    category,
    // A tool always costs something: 0 means that it has not been counted.
    ...(tokens === 0 ? {} : { tokens }),
  };
}

function sortKey({ server, name }: CatalogTool): string {
  return `${server}\n${name}`.toLowerCase();
}

/** A filter that nothing can pass is a mistake, not an empty answer. */
function checkKnown(what: "server" | "category", wanted: string | undefined, all: string[]): void {
  const known = [...new Set(all)];
  if (wanted === undefined || known.includes(wanted)) return;
  const near = nearestNames(wanted, known, 3);
  const some = near.length > 0 ? near : known.slice(0, 5);
  throw new GatewayError(what === "server" ? "SERVER_NOT_FOUND" : "INVALID_ARGUMENTS", {
    message: what === "server"
      ? `There is no server "${wanted.slice(0, 100)}" with tools`
      : `No tool has the category "${wanted.slice(0, 100)}"`,
    ...(some.length === 0 ? {} : { hint: `Available: ${some.join(", ")}` }),
  });
}
