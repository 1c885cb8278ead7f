import type { Gateway } from "../compose.ts";
import { shortened } from "../core/shortened.ts";
import type { ServerStatus } from "../core/server.ts";
import { countSoon } from "./count_soon.ts";
import { compareText } from "./sorting.ts";
import { toolSummary } from "./tool_text.ts";
import { knownTokens } from "./tools_page.ts";
import type { ToolChoice } from "./ui/tool_choice.ts";

/** Which tools of a server clients get, to be chosen. */
export interface ServerToolsPage {
  server: ServerStatus;
  tools: ToolChoice[];
  /** Chosen before and not listed by the server now; they keep their place in the choice. */
  withdrawn: string[];
  /** The server was added a moment ago. */
  isNew: boolean;
}

type ToolsGateway = Pick<Gateway, "admin" | "servers" | "guide" | "tokens">;

const SUMMARY = 200;

/** Throws where there is no such server. */
export async function serverToolsPage(
  gateway: ToolsGateway,
  name: string,
  query: URLSearchParams,
): Promise<ServerToolsPage> {
  const { server } = gateway.admin.describe(name);
  await countSoon(gateway);
  const { enabled, all } = gateway.admin.enabledTools(name);
  const listed = new Set(all);
  const on = enabled && new Set(enabled);
  const tools = gateway.servers.tools(name).map((definition): ToolChoice => {
    const tool = gateway.guide.table.find(name, definition.name);
    return {
      name: definition.name,
      summary: shortened(toolSummary(definition), SUMMARY),
      isOn: on?.has(definition.name) ?? true,
      ...(tool === undefined ? {} : knownTokens(gateway.guide, tool)),
    };
  }).sort((a, b) => compareText(a.name, b.name));
  const withdrawn = enabled?.filter((tool) => !listed.has(tool)) ?? [];
  return { server, tools, withdrawn, isNew: query.has("added") };
}

/**
 * Keeps a choice. What the form did not show stays as it is; with everything chosen, what the
 * server adds later is exposed too.
 */
export async function saveServerTools(
  { admin }: Pick<Gateway, "admin">,
  name: string,
  form: URLSearchParams,
): Promise<void> {
  const { enabled, all } = admin.enabledTools(name);
  const shown = new Set(form.getAll("shown"));
  const chosen = new Set(form.getAll("tool"));
  const before = new Set(enabled ?? all);
  const next = all.filter((tool) => shown.has(tool) ? chosen.has(tool) : before.has(tool));
  // What its server has withdrawn for now keeps its place in the choice.
  const withdrawn = [...before].filter((tool) => !all.includes(tool));
  await admin.setEnabledTools(name, next.length === all.length ? null : [...next, ...withdrawn]);
}
