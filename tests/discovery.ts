import assert from "node:assert/strict";
import * as z from "zod";
import { at, type EndpointClient, Endpoints, TOOLSET_TOOLS } from "./combined_endpoints.ts";
import { EndpointClient as PlainClient } from "./faults.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";

/** Described at more length than a summary shows. */
export const CREATE_ISSUE = {
  name: "create_issue",
  description:
    "Create an issue in a GitHub repository. Use it when the user reports a bug or asks for a feature, after a look at the issues there are. Labels have to exist.",
  inputSchema: {
    type: "object",
    properties: {
      repo: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
      title: { type: "string", description: "In one line" },
      state: { type: "string", enum: ["open", "draft"], default: "open" },
    },
    required: ["title"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { number: { type: "integer" } } },
  annotations: { title: "Create an issue", destructiveHint: false },
};
const GITHUB = [
  CREATE_ISSUE,
  ...["list", "get", "close", "reopen"].map((verb) => ({
    name: `${verb}_issue`,
    description: `${verb} an issue of a GitHub repository`,
    inputSchema: { type: "object" },
  })),
];
const CALENDAR = [
  {
    name: "create_event",
    description: "Create an event in the calendar",
    inputSchema: { type: "object" },
  },
  {
    name: "search-events",
    description: "Search events of the calendar",
    inputSchema: { type: "object" },
  },
];

/** Two servers whose tools are found. */
export function servers() {
  const github = new ScriptedServer(GITHUB);
  const calendar = new ScriptedServer(CALENDAR);
  return {
    github,
    calendar,
    entries: { github: at(github), calendar: at(calendar) },
    async [Symbol.asyncDispose]() {
      await github[Symbol.asyncDispose]();
      await calendar[Symbol.asyncDispose]();
    },
  };
}

/** An entry for a server that is not there. */
export async function nobody() {
  await using gone = new ScriptedServer([]);
  return at(gone);
}

export const FoundTool = z.looseObject({
  toolKey: z.string(),
  toolName: z.string(),
  serverName: z.string(),
  relevance: z.number().min(0).max(1).optional(),
});

/** What tool_discovery finds. */
export async function discover(client: EndpointClient, args: Record<string, unknown>) {
  const { data, text, isError } = await client.call("tool_discovery", args);
  assert.ok(!isError, text);
  return z.looseObject({
    tools: z.array(FoundTool),
    hint: z.string().optional(),
    nearestCategories: z.array(z.string()).optional(),
  }).parse(data);
}

/** The key of a tool that a query finds. */
export async function keyOf(client: EndpointClient, query: string, tool: string): Promise<string> {
  const { tools } = await discover(client, { query });
  return tools.find(({ toolName }) => toolName === tool)!.toolKey;
}

/** What a call that fails says: its code, and its text, whose text must say what to do. */
export async function refused(client: EndpointClient, name: string, args: Record<string, unknown>) {
  const { isError, data, text } = await client.call(name, args);
  assert.ok(isError, text);
  assert.match(text, /What to do:\n1\. /);
  return { code: data.errorType, text, data };
}

export async function setEnabled(
  endpoints: Endpoints,
  server: string,
  tools: string[],
): Promise<void> {
  const manager = await PlainClient.open(`${endpoints.url}/gateway/mcp`);
  await manager.must("set_enabled_tools", { server, tools });
}

/** What each view lists. */
export const VIEWS: Record<string, string[]> = {
  discovery: ["tool_discovery", "tool_execute", "tool_capabilities"],
  index: ["list_available_tools", "get_tool_description", "tool_execute"],
  optimizer: ["optim.find_tool", "optim.call_tool"],
  default: ["tool_discovery", "tool_execute", "tool_capabilities", ...TOOLSET_TOOLS],
};
