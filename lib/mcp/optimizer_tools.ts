import * as z from "zod";
import { namespacedName } from "../catalog/names.ts";
import { builtin, type BuiltinTool, jsonResult } from "./builtin_tool.ts";
import { checkQuery, forwardTo, serversText, ToolArguments } from "./discovery_tools.ts";
import { answerTokens } from "./token_account.ts";
import { isPoor, searchRecord, type ToolDirectory } from "./tool_directory.ts";

export function optimizerTools(directory: ToolDirectory): BuiltinTool[] {
  return [
    builtin({
      name: "optim.find_tool",
      title: "Find a tool",
      description: (principal) => findText(directory, principal),
      input: z.strictObject({
        tool_description: z.string().describe("What the tool should do, in natural language"),
        tool_keywords: z.string().optional().describe("Further keywords, separated by spaces"),
        limit: z.int().min(1).max(100).default(10),
      }),
      annotations: { readOnlyHint: true },
      async run({ tool_description, tool_keywords = "", limit }, { principal, client, sent }) {
        const text = `${tool_description} ${tool_keywords}`.trim();
        checkQuery("tool_description", text);
        const { found, degraded } = await directory.find(principal, { text, limit });
        const shown = directory.shownTo(client, found.map(({ tool }) => tool));
        await directory.countTokens(shown);
        const data = {
          tools: shown.map((tool, at) => ({
            name: tool.name,
            description: tool.definition.description ?? "",
            input_schema: tool.definition.inputSchema,
            backend_id: tool.server,
            similarity_score: found[at]!.relevance,
            token_count: directory.tokensOf(tool),
          })),
          ...(isPoor(found) ? { hint: "No good match: use different or fewer words" } : {}),
          ...(degraded === undefined ? {} : { degraded }),
          ...directory.missing(principal),
        };
        const nothing = await directory.tokenMetrics(principal, 0, sent);
        // The metrics are part of what they measure: their digits hardly change it.
        const cost = answerTokens(jsonResult({ ...data, token_metrics: nothing }));
        const token_metrics = await directory.tokenMetrics(principal, cost, sent);
        return {
          ...jsonResult({ ...data, token_metrics }),
          call: searchRecord("optim.find_tool", text, found, cost),
        };
      },
    }),
    builtin({
      name: "optim.call_tool",
      title: "Call a tool",
      forwards: true,
      description: "Call a tool that optim.find_tool found.",
      input: z.strictObject({
        backend_id: z.string().describe("backend_id from optim.find_tool"),
        tool_name: z.string(),
        parameters: ToolArguments.describe("The tool's arguments"),
      }),
      async run({ backend_id, tool_name, parameters }, { principal, signal }) {
        const isComing = directory.missing(principal).starting?.includes(backend_id) ?? false;
        const own = directory.findOn(principal, backend_id, tool_name);
        if (!own && !isComing && !directory.servers(principal).includes(backend_id)) {
          throw directory.noSuchServer(principal, backend_id);
        }
        const whole = namespacedName(backend_id, tool_name);
        const tool = own || isComing
          ? await directory.resolve(principal, whole, signal)
          : await directory.resolve(principal, tool_name, signal).catch(() => undefined);
        if (tool?.server !== backend_id) {
          throw directory.noSuchTool(principal, backend_id, tool_name);
        }
        return forwardTo(tool, parameters, "parameters");
      },
    }),
  ];
}

function findText(directory: ToolDirectory, principal: string): string {
  const tools = directory.visible(principal);
  const servers = tools.length === 0 ? "" : ` Servers: ${serversText(tools)}.`;
  return `Find tools by what they should do, among ${tools.length} that are not listed. Then call one with optim.call_tool.${servers}`;
}
