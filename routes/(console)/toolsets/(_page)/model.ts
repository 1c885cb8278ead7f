import type { Gateway } from "../../../../lib/gateway.ts";
import { EVERYONE, ownerOf } from "../../../../lib/core/access.ts";
import { SHOWS_EQUIPPED } from "../../../../lib/http/endpoint_path.ts";
import type { Toolset } from "../../../../lib/core/tool.ts";
import { toolsetNotes } from "../../../../lib/console/ui/tools.ts";
import {
  type MissingName,
  missingName,
  paged,
  stretchAround,
} from "../../../../lib/console/lists.ts";
import { clientName } from "../../../../lib/console/tour.ts";
import { clientSnippets } from "../../../../lib/console/client_snippets.ts";
import { waitingTools, waitsFor } from "../../../../lib/console/tool_rows.ts";

/** Without waiting until thousands of tools have been counted. */
function summaryOf(
  { toolsets: admin, toolDirectory, tokens }: Gateway,
  toolset: Toolset,
  builtins: number,
) {
  const tools = admin.toolsets.tools(toolset);
  const known = tools.flatMap(({ tool }) => tool ?? []);
  void tokens.prepare(known).catch(() => {});
  const costs = known.map((tool) => toolDirectory.tokensOf(tool));
  const { name, description, updatedAt } = toolset;
  return {
    name,
    description,
    toolCount: tools.length,
    registered: tools.filter(({ state }) => state === "registered").length,
    tokens: costs.includes(0) ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    updatedAt,
    notes: toolsetNotes(tools.map(({ state }) => state), builtins),
  };
}

export type ToolsetsPage = Awaited<ReturnType<typeof toolsetsPage>>;
export type ToolsetRow = ToolsetsPage["list"]["rows"][number];

export async function toolsetsPage(
  gateway: Gateway,
  query: URLSearchParams,
  principal = EVERYONE,
) {
  const builtins = await gateway.endpoints.countBuiltins(principal);
  const { toolsets } = gateway.toolsets;
  const all = toolsets.list().sort((a, b) => a.name < b.name ? -1 : 1);
  const list = paged(all, query.get("page"));
  const equipped = toolsets.equippedBy(principal);
  return {
    list: {
      ...list,
      rows: list.rows.map((toolset) => ({
        ...summaryOf(gateway, toolset, builtins),
        isEquipped: toolset.name === equipped?.name,
      })),
    },
    equipped: equipped && sizeOf(toolsets, equipped),
    audience: equippedAudience(gateway, principal),
    available: gateway.toolDirectory.visible(EVERYONE).length,
  };
}

function sizeOf(toolsets: Gateway["toolsets"]["toolsets"], toolset: Toolset) {
  return { name: toolset.name, registered: toolsets.registered(toolset).length };
}

const NEIGHBORS = 100;

export type ToolsetPage = Exclude<Awaited<ReturnType<typeof toolsetPage>>, MissingName>;
export type ToolsetPageTool = ToolsetPage["tools"]["rows"][number];

/** Everything on one toolset's page, or the names that the reader may have meant. */
export async function toolsetPage(
  gateway: Gateway,
  name: string,
  query: URLSearchParams,
  principal = EVERYONE,
) {
  const { toolsets: admin, address } = gateway;
  const names = admin.toolsets.list().map((toolset) => toolset.name).sort();
  const found = admin.toolsets.find(name);
  if (!found) return missingName(name, names);
  const details = await admin.toolDetails(found);
  const waitOf = waitsFor(waitingTools(gateway));
  const tools = details.map((detail, index) => {
    const { server = "", tool = "" } = found.tools[index] ?? {};
    return { ...detail, server, tool, ...waitOf(server, tool) };
  });
  const changes = tools.flatMap(({ change }) => change ?? []);
  const equipped = admin.toolsets.equippedBy(principal);
  const isEquipped = equipped?.name === name;
  return {
    toolset: summaryOf(gateway, found, await gateway.endpoints.countBuiltins(principal)),
    /** So that accepting changes takes the place of no later version. */
    version: admin.toolsets.versionOf(name) ?? "",
    tools: paged(tools, query.get("page")),
    names: tools.map(({ namespacedName }) => namespacedName),
    isEquipped,
    equipped: equipped && !isEquipped ? sizeOf(admin.toolsets, equipped) : undefined,
    endpoint: `${address}/toolsets/${name}/mcp`,
    snippets: await clientSnippets(gateway, { kind: "toolset", name }),
    audience: equippedAudience(gateway, principal),
    atEndpoint: endpointAudience(gateway, name),
    /** Tools that are not as they were when it was saved. */
    changed: {
      count: changes.length,
      breaking: changes.filter(({ compatibility }) => compatibility === "breaking").length,
    },
    neighbors: stretchAround(names, names.indexOf(name), NEIGHBORS),
    total: names.length,
  };
}

/** The clients that see something, as far as they are there. */
export type Audience = ReturnType<typeof audienceOf>;

/** Clients do not sign off: one that has been silent this long is not counted. */
const GONE_MS = 60_000;
const NAMES = 5;
const NAME_CHARS = 40;

/** The clients that list the equipped toolset's tools. */
export function equippedAudience(gateway: Pick<Gateway, "endpoints">, principal = EVERYONE) {
  return audienceOf(
    gateway,
    (session) =>
      ownerOf(session.principal) === ownerOf(principal) && SHOWS_EQUIPPED.test(session.endpoint),
  );
}

export function endpointAudience(gateway: Pick<Gateway, "endpoints">, toolset: string) {
  return audienceOf(gateway, ({ endpoint }) => endpoint === `toolsets/${toolset}?`);
}

function audienceOf(
  { endpoints }: Pick<Gateway, "endpoints">,
  isMeant: (session: { endpoint: string; principal: string }) => boolean,
) {
  const now = Date.now();
  const sessions = endpoints.host.sessions.list().filter((session) =>
    isMeant(session) && session.idleMs(now) < GONE_MS
  );
  const byName = Map.groupBy(sessions, ({ profile }) => {
    const name = clientName(profile.clientInfo, "").trim().slice(0, NAME_CHARS).toWellFormed();
    return name || "a client without a name";
  });
  const names = [...byName].map(([name, { length }]) => length === 1 ? name : `${name} (${length})`)
    .sort();
  return {
    count: sessions.length,
    /** Each once: "Cursor", "Claude Code (2)". */
    names: names.slice(0, NAMES),
    more: Math.max(0, names.length - NAMES),
  };
}
