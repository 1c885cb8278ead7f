import { type ServerHistory, toolEvents } from "../../../../../lib/catalog/tool_history.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { entryProblem } from "../../../../../lib/console/attention.ts";
import { clientSnippets } from "../../../../../lib/console/client_snippets.ts";
import type { FormError } from "../../../../../lib/console/errors.ts";
import {
  compareText,
  type MissingName,
  missingName,
  paged,
  stretchAround,
} from "../../../../../lib/console/lists.ts";
import {
  countedCalls,
  countSoon,
  historyOf,
  knownTokens,
  tokenCost,
  type ToolChanges,
  type ToolRow,
  toolRows,
  toolSummary,
  type WaitingTool,
  waitingTools,
  waitsFor,
} from "../../../../../lib/console/tool_rows.ts";
import { TOOL_WAITS } from "../../../../../lib/console/ui/tools.ts";
import { within } from "../../../../../lib/core/async.ts";
import { EVERYONE } from "../../../../../lib/core/access.ts";
import { shortened } from "../../../../../lib/core/text.ts";
import { isTransport, type ServerStatus } from "../../../../../lib/core/server.ts";
import { LISTS } from "../../../../../lib/mcp/server_lists.ts";
import type { ChosenTool, ConfigurableTool } from "../../(_page)/browser.ts";

const NEIGHBORS = 100;
const LOG_LINES = 200;
const EVENTS = 20;
const INVALID = 50;

export type ServerPage = Exclude<Awaited<ReturnType<typeof serverPage>>, MissingName>;

/** Everything on one server's page, or the names that the reader may have meant. */
export async function serverPage(
  gateway: Gateway,
  name: string,
  query: URLSearchParams,
  mayManage = false,
) {
  const servers = gateway.servers.list().sort((a, b) => compareText(a.name, b.name));
  const at = servers.findIndex((server) => server.name === name);
  const server = servers[at];
  if (server === undefined) return missingName(name, servers.map(({ name }) => name));
  const [history, hasLogin, { stats, isLoading }, features] = await Promise.all([
    historyOf(gateway, name, EVENTS),
    hasLoginTo(gateway, server),
    countedCalls(gateway),
    featuresOf(gateway, name),
  ]);
  const known = gateway.toolDirectory.visible(EVERYONE, true)
    .filter((tool) => tool.server === name);
  void gateway.tokens.prepare(known).catch(() => {});
  const waiting = waitingTools(gateway, name);
  const waitOf = waitsFor(waiting);
  const isOn = (tool: string) => gateway.toolDirectory.table.find(name, tool)?.enabled ?? true;
  const served = toolRows(gateway, name).map((row): ToolRow => ({
    ...row,
    ...(isOn(row.name) ? {} : { isOff: true }),
    ...waitOf(name, row.name),
  }));
  const rows = [...served, ...withheldRows(waiting, served)]
    .sort((a, b) => compareText(a.name, b.name));
  return {
    server,
    use: { ...stats.server(name), isLoading },
    tokens: tokenCost(gateway.toolDirectory, known),
    about: aboutOf(gateway.servers.info(name)),
    features,
    tools: paged(rows, query.get("page")),
    /** How many of its tools clients get. */
    exposed: served.filter(({ isOff }) => !isOff).length,
    snippets: await clientSnippets(gateway, { kind: "server", name }),
    usedBy: gateway.toolsets.toolsets.list()
      .filter(({ tools }) => tools.some((tool) => tool.server === name))
      .map((toolset) => toolset.name).sort(compareText),
    states: gateway.servers.states(name),
    neighbors: stretchAround(servers, at, NEIGHBORS),
    total: servers.length,
    problems: gateway.problems.filter((problem) => problem.server === name),
    /** Neither restarting nor waiting helps. */
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
    found: mayManage ? gateway.findingsOf(name) : undefined,
    /** Which packages its program is. */
    packages: mayManage ? (await (await gateway.packages()).list(name))[0] : undefined,
  };
}

const FEATURES_MS = 300;
const LISTED = 100;
const FEATURES = [
  { list: "resources", noun: "resource" },
  { list: "resourceTemplates", noun: "resource template" },
  { list: "prompts", noun: "prompt" },
] as const;

/** Resources and prompts; null while the server is away, undefined until it has listed them. */
async function featuresOf({ servers }: Gateway, name: string) {
  const asked = servers.features(name).then((found) => found ?? null).catch(() => null);
  const found = await within(asked, FEATURES_MS);
  if (!found) return found;
  return FEATURES.map(({ list, noun }) => ({
    noun,
    count: found[list].length,
    items: found[list].slice(0, LISTED).map((item) => ({
      name: String(item[LISTS[list].key] ?? item.name),
      summary: shortened(String(item.description ?? item.title ?? ""), SUMMARY),
    })),
  }));
}

/** What a server says about itself. */
function aboutOf(info: ReturnType<Gateway["servers"]["info"]>) {
  if (info === undefined) return undefined;
  const { name, version, title } = info.serverInfo;
  return {
    name,
    version,
    title: typeof title === "string" && title !== name ? title : undefined,
    protocol: info.protocolVersion,
  };
}

async function hasLoginTo(
  { serverLogins }: Gateway,
  { name, type }: ServerStatus,
): Promise<boolean> {
  if (!isTransport(type, "address")) return false;
  // A store that fails says so itself, on every page.
  const login = await serverLogins().then((logins) => logins.describe(name)).catch(() => {});
  return login !== undefined;
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

/** Tools that the server lists and no client gets. */
function withheldRows(waiting: readonly WaitingTool[], served: readonly ToolRow[]): ToolRow[] {
  const known = new Set(served.map(({ name }) => name));
  return waiting.flatMap(({ server, tool, state }) => {
    if (known.has(tool)) return [];
    known.add(tool);
    return { server, name: tool, summary: TOOL_WAITS[state].meaning, wait: state };
  });
}

const SUMMARY = 200;

export type ServerToolsPage = Awaited<ReturnType<typeof serverToolsPage>> & {
  refused?: { written: ChosenTool[]; error: FormError };
};

/** Which tools of a server clients get, to be chosen; throws where there is no such server. */
export async function serverToolsPage(gateway: Gateway, name: string, query: URLSearchParams) {
  const { server } = gateway.admin.describe(name);
  await countSoon(gateway);
  const { enabled } = gateway.admin.enabledTools(name);
  const on = enabled && new Set(enabled);
  const waitOf = waitsFor(waitingTools(gateway, name));
  const tools = gateway.servers.tools(name).map((definition): ConfigurableTool => {
    const tool = gateway.toolDirectory.table.find(name, definition.name);
    return {
      name: definition.name,
      summary: shortened(toolSummary(definition), SUMMARY),
      isOn: on?.has(definition.name) ?? true,
      ...(tool === undefined ? {} : knownTokens(gateway.toolDirectory, tool)),
      ...waitOf(name, definition.name),
    };
  }).sort((a, b) => compareText(a.name, b.name));
  return { server, tools, isNew: query.has("added") };
}

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
  // An empty list does not mean that everything was chosen.
  const isAll = next.length === all.length && (all.length > 0 || enabled === null);
  return isAll ? null : [...next, ...withdrawn];
}
