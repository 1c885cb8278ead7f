import { z } from "zod";
import type { Gateway } from "../../../../lib/gateway.ts";
import { EVERYONE, ownerOf } from "../../../../lib/core/access.ts";
import { SHOWS_EQUIPPED } from "../../../../lib/http/endpoint_path.ts";
import type { Toolset } from "../../../../lib/core/tool.ts";
import { toolsetNotes, type ToolWait } from "../../../../lib/console/ui/tools.ts";
import {
  type MissingName,
  type Paged,
  paged,
  stretchAround,
} from "../../../../lib/console/lists.ts";
import { nearestNames } from "../../../../lib/core/text.ts";
import type { ToolsetToolDetail } from "../../../../lib/operations/toolsets_admin.ts";
import { type ClientSnippet, clientSnippets } from "../../../../lib/console/client_snippets.ts";
import { waitingTools, waitsFor } from "../../../../lib/console/tool_rows.ts";

interface ToolsetSummary {
  name: string;
  description?: string;
  toolCount: number;
  /** How many can be called now. */
  registered: number;
  /** Undefined until all of them have been counted. */
  tokens?: number;
  updatedAt: number;
  notes: string[];
}

/** What is known now: no page waits until thousands of tools have been counted. */
function summaryOf(
  { toolsets: admin, toolDirectory, tokens }: Pick<
    Gateway,
    "toolsets" | "toolDirectory" | "tokens"
  >,
  toolset: Toolset,
): ToolsetSummary {
  const tools = admin.toolsets.tools(toolset);
  const known = tools.flatMap(({ tool }) => tool ?? []);
  void tokens.prepare(known).catch(() => {});
  const costs = known.map((tool) => toolDirectory.tokensOf(tool));
  const { name, description, updatedAt } = toolset;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    toolCount: tools.length,
    registered: tools.filter(({ state }) => state === "registered").length,
    ...(costs.includes(0) ? {} : { tokens: costs.reduce((sum, cost) => sum + cost, 0) }),
    updatedAt,
    notes: toolsetNotes(tools.map(({ state }) => state)),
  };
}

export interface ToolsetRow extends ToolsetSummary {
  isEquipped: boolean;
}

export interface ToolsetsPage {
  list: Paged<ToolsetRow>;
  /** The one whose tools are listed at the default endpoint. */
  equipped?: { name: string; registered: number };
  /** The clients that see what is equipped. */
  audience: Audience;
  /** How many tools there are to choose from. */
  available: number;
}

/** All toolsets, by name. */
export function toolsetsPage(
  gateway: Pick<Gateway, "toolsets" | "toolDirectory" | "tokens" | "endpoints">,
  query: URLSearchParams,
  principal = EVERYONE,
): ToolsetsPage {
  const { toolsets } = gateway.toolsets;
  const all = toolsets.list().sort((a, b) => a.name < b.name ? -1 : 1);
  const list = paged(all, query.get("page"));
  const equipped = toolsets.equippedBy(principal);
  return {
    list: {
      ...list,
      rows: list.rows.map((toolset) => ({
        ...summaryOf(gateway, toolset),
        isEquipped: toolset.name === equipped?.name,
      })),
    },
    ...(equipped === undefined ? {} : {
      equipped: { name: equipped.name, registered: toolsets.registered(equipped).length },
    }),
    audience: equippedAudience(gateway, principal),
    available: gateway.toolDirectory.visible(EVERYONE).length,
  };
}

export interface ToolsetPageTool extends ToolsetToolDetail {
  server: string;
  /** The server's own name for it. */
  tool: string;
  /** Clients do not get it as its server lists it, until somebody has decided. */
  wait?: ToolWait;
}

export interface ToolsetPage {
  toolset: ToolsetSummary;
  /** So that accepting changes takes the place of no later version. */
  version: string;
  tools: Paged<ToolsetPageTool>;
  /** All of its tools, by name. */
  names: string[];
  isEquipped: boolean;
  /** What is equipped instead, if anything is, with how many tools that shows. */
  equipped?: { name: string; registered: number };
  /** Where a client reaches exactly these tools. */
  endpoint: string;
  snippets: ClientSnippet[];
  /** The clients that see what is equipped, and those at its own endpoint. */
  audience: Audience;
  atEndpoint: Audience;
  /** Tools that are not as they were when it was saved; calls may break with some. */
  changed: { count: number; breaking: number };
  neighbors: string[];
  total: number;
}

type PageGateway = Pick<
  Gateway,
  "toolsets" | "toolDirectory" | "tokens" | "endpoints" | "address" | "options" | "review"
>;

const NEIGHBORS = 100;

/** Everything on one toolset's page, or the names that the reader may have meant. */
export async function toolsetPage(
  gateway: PageGateway,
  name: string,
  query: URLSearchParams,
  principal = EVERYONE,
): Promise<ToolsetPage | MissingName> {
  const { toolsets: admin, address } = gateway;
  const names = admin.toolsets.list().map((toolset) => toolset.name).sort();
  const found = admin.toolsets.find(name);
  if (!found) return { missing: name, nearest: nearestNames(name, names) };
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
    toolset: summaryOf(gateway, found),
    version: admin.toolsets.versionOf(name) ?? "",
    tools: paged(tools, query.get("page")),
    names: tools.map(({ namespacedName }) => namespacedName),
    isEquipped,
    ...(equipped === undefined || isEquipped ? {} : {
      equipped: { name: equipped.name, registered: admin.toolsets.registered(equipped).length },
    }),
    endpoint: `${address}/toolsets/${name}/mcp`,
    snippets: clientSnippets(gateway, { kind: "toolset", name }),
    audience: equippedAudience(gateway, principal),
    atEndpoint: endpointAudience(gateway, name),
    changed: {
      count: changes.length,
      breaking: changes.filter(({ compatibility }) => compatibility === "breaking").length,
    },
    neighbors: stretchAround(names, names.indexOf(name), NEIGHBORS),
    total: names.length,
  };
}

/** The clients that see something, as far as they are there. */
export interface Audience {
  count: number;
  /** By the names they gave, each once: "Cursor", "Claude Code (2)". */
  names: string[];
  /** How many names are left out. */
  more: number;
}

/** Clients do not say goodbye: one that has neither listened nor asked this long is not counted. */
const GONE_MS = 60_000;
const NAMES = 5;
const NAME_CHARS = 40;

const ClientInfo = z.looseObject({ title: z.string().optional(), name: z.string().optional() });

type AudienceGateway = Pick<Gateway, "endpoints">;

/** The clients whose list has the tools of what is equipped. */
export function equippedAudience(gateway: AudienceGateway, principal = EVERYONE): Audience {
  return audienceOf(
    gateway,
    (session) =>
      ownerOf(session.principal) === ownerOf(principal) && SHOWS_EQUIPPED.test(session.endpoint),
  );
}

/** The clients at a toolset's own endpoint. */
export function endpointAudience(gateway: AudienceGateway, toolset: string): Audience {
  return audienceOf(gateway, ({ endpoint }) => endpoint === `toolsets/${toolset}?`);
}

function audienceOf(
  { endpoints }: AudienceGateway,
  isMeant: (session: { endpoint: string; principal: string }) => boolean,
): Audience {
  const now = Date.now();
  const sessions = endpoints.host.sessions.list().filter((session) =>
    isMeant(session) && session.idleMs(now) < GONE_MS
  );
  const byName = Map.groupBy(sessions, ({ profile }) => nameOf(profile.clientInfo));
  const names = [...byName].map(([name, { length }]) => length === 1 ? name : `${name} (${length})`)
    .sort();
  return {
    count: sessions.length,
    names: names.slice(0, NAMES),
    more: Math.max(0, names.length - NAMES),
  };
}

function nameOf(info: unknown): string {
  const { title, name } = ClientInfo.safeParse(info).data ?? {};
  const shown = (title ?? name ?? "").trim().slice(0, NAME_CHARS).toWellFormed();
  return shown === "" ? "a client without a name" : shown;
}
