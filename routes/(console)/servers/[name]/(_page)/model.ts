import { isTransport } from "../../../../../lib/core/server.ts";
import {
  type InvalidEntry,
  type ServerHistory,
  toolEvents,
} from "../../../../../lib/catalog/tool_history.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { entryProblem } from "../../../../../lib/console/attention.ts";
import { type ClientSnippet, clientSnippets } from "../../../../../lib/console/client_snippets.ts";
import type { FormError } from "../../../../../lib/console/errors.ts";
import {
  compareText,
  type MissingName,
  type Paged,
  paged,
  stretchAround,
} from "../../../../../lib/console/lists.ts";
import {
  countSoon,
  historyOf,
  knownTokens,
  type ToolChanges,
  type ToolRow,
  toolRows,
  toolSummary,
  type WaitingTool,
  waitingTools,
  waitsFor,
} from "../../../../../lib/console/tool_rows.ts";
import { TOOL_WAITS } from "../../../../../lib/console/ui/tools.ts";
import { nearestNames, shortened } from "../../../../../lib/core/text.ts";
import type { ServerStatus } from "../../../../../lib/core/server.ts";
import type { StatePeriod } from "../../../../../lib/servers/status.ts";
import type { ServerLine } from "../../../../../lib/telemetry/logs.ts";
import type { ChosenTool, ToolChoice } from "../../(_page)/browser.ts";

export interface ServerPage {
  server: ServerStatus;
  tools: Paged<ToolRow>;
  /** The servers around this one, for the list beside it. */
  neighbors: ServerStatus[];
  total: number;
  problems: Gateway["problems"];
  /** Its entry is invalid: neither restarting nor waiting helps. */
  isEntryWrong: boolean;
  /** Where an MCP client reaches this server. */
  endpoint: string;
  /** How each client connects to it. */
  snippets: ClientSnippet[];
  /** Toolsets with tools of this server. */
  usedBy: string[];
  /** How many of its tools clients get. */
  exposed: number;
  /** The states it was in, newest first. */
  states: StatePeriod[];
  /** What is logged of it; undefined for a reader who may not manage. */
  logs: ServerLogs | undefined;
  /** Undefined where the data store does not give them. */
  changes: ToolChanges | undefined;
  /** Entries of its list that are not valid tools. */
  invalid: { entries: InvalidEntry[]; more: number };
  /** Tools that no client gets as the server lists them, until somebody has decided. */
  waiting: WaitingTool[];
  /** Whether somebody has logged in to it. */
  hasLogin: boolean;
}

interface ServerLogs {
  /** What it last wrote to its error output, oldest first. */
  written: { time: number; line: string }[];
  /** What the gateway's own log has of it, newest first. */
  noted: ServerLine[];
}

const NEIGHBORS = 100;
const LOG_LINES = 200;
const EVENTS = 20;
const INVALID = 50;

/** Everything on one server's page, or the names that the reader may have meant. */
export async function serverPage(
  gateway: Pick<
    Gateway,
    | "address"
    | "options"
    | "servers"
    | "problems"
    | "guide"
    | "toolsets"
    | "review"
    | "serverLogins"
  >,
  name: string,
  query: URLSearchParams,
  mayManage = false,
): Promise<ServerPage | MissingName> {
  const servers = gateway.servers.list().sort((a, b) => compareText(a.name, b.name));
  const at = servers.findIndex((server) => server.name === name);
  const server = servers[at];
  if (server === undefined) {
    return { missing: name, nearest: nearestNames(name, servers.map(({ name }) => name)) };
  }
  const [history, hasLogin] = await Promise.all([
    historyOf(gateway, name, EVENTS),
    hasLoginTo(gateway, server),
  ]);
  const waiting = waitingTools(gateway, name);
  const waitOf = waitsFor(waiting);
  const isOn = (tool: string) => gateway.guide.table.find(name, tool)?.enabled ?? true;
  const served = toolRows(gateway, name).map((row): ToolRow => ({
    ...row,
    ...(isOn(row.name) ? {} : { isOff: true }),
    ...waitOf(name, row.name),
  }));
  const rows = [...served, ...withheldRows(waiting, served)]
    .sort((a, b) => compareText(a.name, b.name));
  return {
    server,
    tools: paged(rows, query.get("page")),
    exposed: served.filter(({ isOff }) => !isOff).length,
    snippets: clientSnippets(gateway, { kind: "server", name }),
    usedBy: gateway.toolsets.toolsets.list()
      .filter(({ tools }) => tools.some((tool) => tool.server === name))
      .map((toolset) => toolset.name).sort(compareText),
    states: gateway.servers.states(name),
    neighbors: stretchAround(servers, at, NEIGHBORS),
    total: servers.length,
    problems: gateway.problems.filter((problem) => problem.server === name),
    isEntryWrong: entryProblem(gateway.problems, server) !== undefined,
    endpoint: `${gateway.address}/servers/${name}/mcp`,
    logs: mayManage
      ? {
        written: gateway.servers.log(name).slice(-LOG_LINES),
        noted: gateway.servers.logged(name),
      }
      : undefined,
    changes: history && changesIn(history),
    invalid: {
      entries: history?.invalid.slice(0, INVALID) ?? [],
      more: Math.max(0, (history?.invalid.length ?? 0) - INVALID),
    },
    waiting,
    hasLogin,
  };
}

async function hasLoginTo(
  { serverLogins }: Pick<Gateway, "serverLogins">,
  { name, type }: ServerStatus,
): Promise<boolean> {
  if (!isTransport(type, "address")) return false;
  try {
    return await (await serverLogins()).describe(name) !== undefined;
  } catch {
    // A store that fails says so itself, on every page.
    return false;
  }
}

function changesIn(history: ServerHistory): ToolChanges {
  const events = toolEvents(history);
  const seen = history.tools.flatMap(({ versions }) => versions.at(-1)?.seenAt ?? []);
  return {
    events: events.slice(0, EVENTS),
    more: Math.max(0, events.length - EVENTS),
    ...(seen.length === 0 ? {} : { since: seen.reduce((a, b) => Math.min(a, b)) }),
  };
}

/** What the server lists and no client gets at all. */
function withheldRows(waiting: readonly WaitingTool[], served: readonly ToolRow[]): ToolRow[] {
  const known = new Set(served.map(({ name }) => name));
  const rows = waiting.filter(({ tool }) => !known.has(tool)).map(({ server, tool, state }) => ({
    server,
    name: tool,
    summary: TOOL_WAITS[state].meaning,
    wait: state,
  }));
  return [...new Map(rows.toReversed().map((row) => [row.name, row])).values()];
}

/** Which tools of a server clients get, to be chosen. */
export interface ServerToolsPage {
  server: ServerStatus;
  tools: ToolChoice[];
  /** The server was added a moment ago. */
  isNew: boolean;
  /** What could not be saved, and why. */
  refused?: { written: ChosenTool[]; error: FormError };
}

type ToolsGateway = Pick<Gateway, "admin" | "servers" | "guide" | "tokens" | "review">;

const SUMMARY = 200;

/** Throws where there is no such server. */
export async function serverToolsPage(
  gateway: ToolsGateway,
  name: string,
  query: URLSearchParams,
): Promise<ServerToolsPage> {
  const { server } = gateway.admin.describe(name);
  await countSoon(gateway);
  const { enabled } = gateway.admin.enabledTools(name);
  const on = enabled && new Set(enabled);
  const waitOf = waitsFor(waitingTools(gateway, name));
  const tools = gateway.servers.tools(name).map((definition): ToolChoice => {
    const tool = gateway.guide.table.find(name, definition.name);
    return {
      name: definition.name,
      summary: shortened(toolSummary(definition), SUMMARY),
      isOn: on?.has(definition.name) ?? true,
      ...(tool === undefined ? {} : knownTokens(gateway.guide, tool)),
      ...waitOf(name, definition.name),
    };
  }).sort((a, b) => compareText(a.name, b.name));
  return { server, tools, isNew: query.has("added") };
}

/** What a form says of the tools it showed. */
export function readToolChoice(form: URLSearchParams): ChosenTool[] {
  const chosen = new Set(form.getAll("tool"));
  return [...new Set(form.getAll("shown"))].map((name) => ({ name, isOn: chosen.has(name) }));
}

/**
 * The selection that a form makes. What the form did not show stays as it is; with everything
 * chosen, tools that the server adds later are exposed too.
 */
export function selectionOf(
  { enabled, all }: { enabled: string[] | null; all: string[] },
  written: readonly ChosenTool[],
): string[] | null {
  const wanted = new Map(written.map(({ name, isOn }) => [name, isOn]));
  const before = new Set(enabled ?? all);
  const next = all.filter((tool) => wanted.get(tool) ?? before.has(tool));
  // A tool that its server has withdrawn for now stays in the selection.
  const withdrawn = [...before].filter((tool) => !all.includes(tool));
  // A server that lists nothing at the moment has not had everything chosen by that.
  const isAll = next.length === all.length && (all.length > 0 || enabled === null);
  return isAll ? null : [...next, ...withdrawn];
}
