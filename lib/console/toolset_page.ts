import type { Gateway } from "../compose.ts";
import { nearestNames } from "../core/nearest.ts";
import { EVERYONE } from "../core/principal.ts";
import type { ToolsetToolDetail } from "../surfaces/toolsets_admin.ts";
import { type Audience, doorAudience, equippedAudience } from "./audience.ts";
import { type ClientSnippet, clientSnippets } from "./client_snippets.ts";
import { type Paged, paged } from "./paging.ts";
import { type MissingName, stretchAround } from "./server_page.ts";
import { summaryOf, type ToolsetSummary } from "./toolset_summary.ts";
import type { ToolWait } from "./ui/tool_wait.ts";
import { waitingTools, waitsFor } from "./waiting_tools.ts";

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
  door: string;
  snippets: ClientSnippet[];
  /** The clients that see what is equipped, and those at its own door. */
  audience: Audience;
  atDoor: Audience;
  /** Tools that are not as they were when it was saved; calls may break with some. */
  changed: { count: number; breaking: number };
  neighbors: string[];
  total: number;
}

type PageGateway = Pick<
  Gateway,
  "toolsets" | "guide" | "tokens" | "doors" | "address" | "options" | "review"
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
    door: `${address}/toolsets/${name}/mcp`,
    snippets: clientSnippets(gateway, { kind: "toolset", name }),
    audience: equippedAudience(gateway, principal),
    atDoor: doorAudience(gateway, name),
    changed: {
      count: changes.length,
      breaking: changes.filter(({ compatibility }) => compatibility === "breaking").length,
    },
    neighbors: stretchAround(names, names.indexOf(name), NEIGHBORS),
    total: names.length,
  };
}
