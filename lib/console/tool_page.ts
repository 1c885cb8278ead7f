import { z } from "zod";
import type { ToolStep } from "../catalog/tool_history.ts";
import type { Gateway } from "../compose.ts";
import type { ServerStatus } from "../core/server.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { nearestNames } from "../core/nearest.ts";
import { type Parameters, parametersOf } from "./parameters.ts";
import {
  historyOf,
  type MissingName,
  stretchAround,
  type ToolRow,
  toolRows,
} from "./server_page.ts";

/** What a tool says about its own effects; hints from a server, never promises. */
const Annotations = z.looseObject({
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});

export interface ToolPage {
  server: ServerStatus;
  name: string;
  title?: string;
  description: string;
  hints: { label: string; meaning: string; isRisky: boolean }[];
  input: Parameters;
  output?: Parameters;
  /** The schema as the server sent it, indented. */
  inputJson: string;
  outputJson?: string;
  /** The tools of the same server around this one. */
  neighbors: ToolRow[];
  total: number;
  /** Its versions, newest first; undefined where the data store does not give them. */
  versions: ToolStep[] | undefined;
  /** How many older ones are not shown, or no longer kept. */
  olderVersions: number;
}

const NEIGHBORS = 100;
const VERSIONS = 10;
const MAX_JSON = 200_000;

/** Everything on one tool's page, or the names that the reader may have meant. */
export async function toolPage(
  gateway: Pick<Gateway, "servers">,
  serverName: string,
  toolName: string,
): Promise<ToolPage | MissingName> {
  const server = gateway.servers.list().find(({ name }) => name === serverName);
  const rows = toolRows(gateway, serverName);
  const tool = gateway.servers.tools(serverName).find(({ name }) => name === toolName);
  if (server === undefined || tool === undefined) {
    return { missing: toolName, nearest: nearestNames(toolName, rows.map(({ name }) => name)) };
  }
  const history = await historyOf(gateway, serverName, VERSIONS, toolName);
  const versions = history && (history.tools[0]?.versions.slice(0, VERSIONS) ?? []);
  return {
    server,
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: tool.description ?? "",
    hints: hintsOf(tool),
    input: parametersOf(tool.inputSchema),
    inputJson: indented(tool.inputSchema),
    ...(tool.outputSchema === undefined ? {} : {
      output: parametersOf(tool.outputSchema),
      outputJson: indented(tool.outputSchema),
    }),
    neighbors: stretchAround(rows, rows.findIndex(({ name }) => name === toolName), NEIGHBORS),
    total: rows.length,
    versions,
    olderVersions: (versions?.at(-1)?.version ?? 1) - 1,
  };
}

function hintsOf(tool: ToolDefinition): ToolPage["hints"] {
  const parsed = Annotations.safeParse(tool.annotations);
  if (!parsed.success) return [];
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = parsed.data;
  const hints: ToolPage["hints"] = [];
  if (readOnlyHint === true) {
    hints.push({ label: "Read-only", meaning: "Changes nothing", isRisky: false });
  }
  if (readOnlyHint !== true && destructiveHint === true) {
    hints.push({ label: "Destructive", meaning: "May delete or overwrite", isRisky: true });
  }
  if (idempotentHint === true) {
    hints.push({
      label: "Idempotent",
      meaning: "A second call changes nothing more",
      isRisky: false,
    });
  }
  if (openWorldHint === true) {
    hints.push({
      label: "Open world",
      meaning: "Reaches systems outside its server",
      isRisky: false,
    });
  }
  return hints;
}

function indented(schema: unknown): string {
  const text = JSON.stringify(schema, undefined, 2) ?? "";
  return text.length > MAX_JSON ? `${text.slice(0, MAX_JSON)}\n…` : text;
}
