import type { Gateway } from "../compose.ts";
import { shortened } from "../core/shortened.ts";
import type { ServerStatus } from "../core/server.ts";
import { countSoon } from "./count_soon.ts";
import type { FormError } from "./form_error.ts";
import { compareText } from "./sorting.ts";
import { toolSummary } from "./tool_text.ts";
import { knownTokens } from "./tools_page.ts";
import type { ChosenTool, ToolChoice } from "./ui/tool_choice.ts";
import { waitingTools, waitsFor } from "./waiting_tools.ts";

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
 * Keeps a choice. What the form did not show stays as it is; with everything chosen, what the
 * server adds later is exposed too.
 */
export async function saveServerTools(
  { admin }: Pick<Gateway, "admin">,
  name: string,
  written: readonly ChosenTool[],
): Promise<void> {
  const { enabled, all } = admin.enabledTools(name);
  const wanted = new Map(written.map(({ name, isOn }) => [name, isOn]));
  const before = new Set(enabled ?? all);
  const next = all.filter((tool) => wanted.get(tool) ?? before.has(tool));
  // What its server has withdrawn for now keeps its place in the choice.
  const withdrawn = [...before].filter((tool) => !all.includes(tool));
  // A server that lists nothing at the moment has not had everything chosen by that.
  const isAll = next.length === all.length && (all.length > 0 || enabled === null);
  await admin.setEnabledTools(name, isAll ? null : [...next, ...withdrawn]);
}
