import { type OperationCall, runOperation } from "../../../../lib/operations/operation.ts";
import type { Services } from "../../../../lib/operations/services.ts";
import { TOOLSET_OPERATIONS } from "../../../../lib/operations/toolsets.ts";
import * as z from "zod";
import type { Gateway } from "../../../../lib/gateway.ts";
import { freeName } from "../../../../lib/config/server_name.ts";
import { EVERYONE, isMatch } from "../../../../lib/core/access.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import type { ToolReference, Toolset } from "../../../../lib/core/tool.ts";
import type { CatalogTool } from "../../../../lib/catalog/catalog_tool.ts";
import { namespacedName } from "../../../../lib/catalog/names.ts";
import type { ToolState } from "../../../../lib/catalog/toolsets/toolset_tools.ts";
import { fittingToolsetName } from "../../../../lib/catalog/toolsets/toolsets.ts";
import { byName, filterChoices } from "../../tools/(_page)/model.ts";
import { ANY_TOOL, type PickQuery, type ToolPicks } from "./browser.ts";
import { MAX_TOOLS, type PickedTool, TOOL_WAITS } from "../../../../lib/console/ui/tools.ts";
import { countSoon, knownTokens, waitingTools } from "../../../../lib/console/tool_rows.ts";
import { formError } from "../../../../lib/console/errors.ts";

type FormGateway = Pick<
  Gateway,
  "toolDirectory" | "tokens" | "toolsets" | "review" | "endpoints"
>;

interface ToolsetFields {
  name: string;
  description: string;
  /** Names and patterns. */
  tools: string[];
  from?: string;
  version?: string;
}

/** A page that waits longer for its numbers is worse than one without them. */
const COUNT_MS = 100;

export type ToolsetForm = Awaited<ReturnType<typeof toolsetForm>>;

/** The form to change a toolset, or one that could not be saved, with what was written. */
export async function toolsetForm(
  gateway: FormGateway,
  editing?: Toolset,
  written: ToolsetFields = fieldsOf(editing),
  error?: GatewayError,
) {
  const { toolDirectory, toolsets: admin } = gateway;
  toolDirectory.warmUp();
  await countSoon(gateway, COUNT_MS);
  const { from, name, description, tools } = written;
  const source = editing ?? (from === undefined ? undefined : admin.toolsets.find(from));
  return {
    editing: editing?.name,
    /** Saving fails if somebody else has saved another version. */
    version: editing && admin.toolsets.versionOf(editing.name),
    from,
    name,
    description,
    chosen: pickedByName(gateway, tools, source),
    /** How many of the gateway's own tools are listed beside them at /mcp. */
    builtins: await gateway.endpoints.countBuiltins(EVERYONE),
    picks: await pickTools(gateway, new URLSearchParams()),
    ...filterChoices(toolDirectory, toolDirectory.visible(EVERYONE)),
    error: error && formError(error),
  };
}

/** `?from=` copies a toolset; `?server=`, `?category=` and `?q=` (a pattern) begin with all such. */
export async function newToolsetForm(
  gateway: FormGateway,
  query: URLSearchParams,
) {
  const { toolDirectory, toolsets: { toolsets } } = gateway;
  const from = query.get("from");
  if (from) {
    const source = toolsets.resolve(from);
    const taken = new Set(toolsets.list().map(({ name }) => name));
    const name = freeName(`${source.name}-copy`.slice(0, 64), taken);
    return await toolsetForm(gateway, undefined, { ...fieldsOf(source), name, from });
  }
  await toolDirectory.prepare();
  const asked = readPickQuery(query);
  const isAsked = Object.values(asked).some((value) => value !== "");
  const tools = isAsked ? pickableTools(toolDirectory, asked).slice(0, MAX_PICKS) : [];
  return await toolsetForm(gateway, undefined, {
    name: isAsked ? fittingToolsetName(asked.server || asked.category) : "",
    description: "",
    tools: tools.map(({ server, name }) => namespacedName(server, name)),
  });
}

function fieldsOf(toolset: Toolset | undefined): ToolsetFields {
  return {
    name: toolset?.name ?? "",
    description: toolset?.description ?? "",
    tools: toolset?.tools.map(fullName) ?? [],
  };
}

/**
 * Reads the form: `tool` for each row that is ticked, `tools` for many that are not drawn, in the
 * order of the list; then `add` for what was ticked beside it, and names written one a line.
 */
export function readToolsetForm(form: URLSearchParams): ToolsetFields {
  const listed = [...form].flatMap(([key, value]) =>
    key === "tool" ? value : key === "tools" ? readNames(value) : []
  );
  const written = (form.get("more") ?? "").split("\n").map((line) => line.trim());
  const tools = [...listed, ...form.getAll("add"), ...written].filter((name) => name !== "");
  const [from, version] = [form.get("from"), form.get("version")];
  return {
    name: form.get("name")?.trim() ?? "",
    description: form.get("description")?.trim() ?? "",
    tools: [...new Set(tools)],
    ...(from ? { from } : {}),
    ...(version ? { version } : {}),
  };
}

export async function saveToolset(
  gateway: Services & Pick<Gateway, "toolDirectory">,
  { from: copyOf, version, tools, ...written }: ToolsetFields,
  call: OperationCall,
  editing?: Toolset,
): Promise<string> {
  const { create, update } = TOOLSET_OPERATIONS;
  await gateway.toolDirectory.prepare();
  const input = { ...written, tools: chosenNames(gateway.toolDirectory, tools) };
  if (!editing) {
    const whole = { ...input, ...(copyOf === undefined ? {} : { copyOf }) };
    return (await runOperation(create, gateway, whole, call)).toolset.name;
  }
  try {
    const whole = { ...input, name: editing.name, ...(version === undefined ? {} : { version }) };
    return (await runOperation(update, gateway, whole, call)).toolset.name;
  } catch (error) {
    if (!(error instanceof GatewayError && error.code === "CONFLICT")) throw error;
    throw new GatewayError("CONFLICT", {
      message: `Someone else saved ${editing.name} after you opened this page`,
      hint: "Your version is below; saving again replaces theirs.",
    });
  }
}

function readNames(text: string): string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(text));
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot read the selected tools",
      recoverySteps: ["Reload the page and select them again"],
    });
  }
}

/** Written in the place of a name for all tools of a category; no server's name has a colon. */
const CATEGORY = "category:";

const NOTES: Partial<Record<ToolState, string>> = {
  waiting: "Server disconnected",
  disabled: "Switched off",
  gone: "No longer there",
};

function fullName({ server, tool }: ToolReference): string {
  return namespacedName(server, tool);
}

/** The tools' names, with patterns and categories replaced by what they match. */
function chosenNames(
  toolDirectory: Gateway["toolDirectory"],
  written: readonly string[],
): string[] {
  return [
    ...new Set(
      written.flatMap((name) => isForMany(name) ? matchingNames(toolDirectory, name) : name),
    ),
  ];
}

/** The chosen tools, each with the reason why it cannot be called, if any. */
function pickedByName(
  gateway: FormGateway,
  names: readonly string[],
  before: Toolset | undefined,
): PickedTool[] {
  const { toolDirectory, toolsets: admin } = gateway;
  const waits = new Map(
    waitingTools(gateway).toReversed().map((each) => [fullName(each), each.state]),
  );
  const standing = before ? admin.toolsets.tools(before) : [];
  const states = new Map(standing.map(({ reference, state }) => [fullName(reference), state]));
  return names.map((written) => {
    const tool = toolDirectory.table.byNamespaced(written) ?? toolDirectory.table.byFlat(written);
    const dot = written.indexOf(".");
    const wait = waits.get(written);
    const isKnown = tool !== undefined || isForMany(written);
    const note = wait === undefined
      ? NOTES[states.get(written) ?? "registered"] ?? (isKnown ? undefined : "Unknown")
      : TOOL_WAITS[wait].word;
    return {
      ...(tool ? pickedTool(toolDirectory, tool) : {
        namespacedName: written,
        server: written.slice(0, Math.max(0, dot)),
        name: written.slice(dot + 1),
      }),
      // Not shown there, and much text where it is thousands of tools.
      summary: "",
      ...(note === undefined ? {} : { note }),
    };
  });
}

function isForMany(written: string): boolean {
  return isPattern(written) || written.startsWith(CATEGORY);
}

function matchingNames(toolDirectory: Gateway["toolDirectory"], written: string): string[] {
  const found = pickableTools(
    toolDirectory,
    written.startsWith(CATEGORY)
      ? { ...ANY_TOOL, category: written.slice(CATEGORY.length).trim() }
      : { ...ANY_TOOL, q: written },
  );
  if (found.length > 0) return found.map(({ server, name }) => namespacedName(server, name));
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `No tool matches "${written.slice(0, 100)}"`,
  });
}

const SHOWN = 100;
/** One more than a toolset holds, so that the form can refuse a larger one. */
const MAX_PICKS = MAX_TOOLS + 1;
const MAX_QUERY = 200;
const SUMMARY_CHARS = 160;

/** `?q=&server=&category=&all=1`: what can be put into a toolset, for the one who builds it. */
export async function pickTools(
  gateway: Pick<Gateway, "toolDirectory" | "tokens">,
  query: URLSearchParams,
): Promise<ToolPicks> {
  const asked = readPickQuery(query);
  const { toolDirectory } = gateway;
  await toolDirectory.prepare();
  void gateway.tokens.prepare(toolDirectory.visible(EVERYONE, true)).catch(() => {});
  if (asked.q !== "" && !isPattern(asked.q)) return await searched(toolDirectory, asked);
  const matching = pickableTools(toolDirectory, asked);
  const areAll = query.has("all");
  const shown = matching.slice(0, areAll ? MAX_PICKS : SHOWN);
  const groups = groupsOf(toolDirectory, shown, matching);
  if (areAll) {
    // Nobody reads the summaries of what is added all at once.
    for (const tool of groups.flatMap(({ tools }) => tools)) tool.summary = "";
  }
  return { groups, total: matching.length };
}

function readPickQuery(query: URLSearchParams): PickQuery {
  return {
    q: query.get("q")?.trim().slice(0, MAX_QUERY) ?? "",
    server: query.get("server") ?? "",
    category: query.get("category") ?? "",
  };
}

/** All that are on and fit, by server and name; the words of a search find nothing here. */
function pickableTools(
  toolDirectory: Gateway["toolDirectory"],
  { q, server, category }: PickQuery,
): CatalogTool[] {
  const fits = q === "" ? () => true : toolPattern(q);
  return toolDirectory.visible(EVERYONE).filter((tool) =>
    (server === "" || tool.server === server) &&
    (category === "" || toolDirectory.isIn(tool, category)) && fits(tool)
  ).sort(byName);
}

function pickedTool(toolDirectory: Gateway["toolDirectory"], tool: CatalogTool): PickedTool {
  const { summary } = toolDirectory.metadata(tool);
  return {
    namespacedName: namespacedName(tool.server, tool.name),
    server: tool.server,
    name: tool.name,
    summary: summary.slice(0, SUMMARY_CHARS),
    ...knownTokens(toolDirectory, tool),
  };
}

async function searched(
  toolDirectory: Gateway["toolDirectory"],
  asked: PickQuery,
): Promise<ToolPicks> {
  const { found, degraded } = await toolDirectory.find(EVERYONE, {
    text: asked.q,
    server: asked.server || undefined,
    category: asked.category || undefined,
    limit: SHOWN,
  });
  const tools = found.map(({ tool }) => tool)
    .filter((tool) => asked.category === "" || toolDirectory.isIn(tool, asked.category));
  return { groups: groupsOf(toolDirectory, tools), total: tools.length, degraded };
}

function groupsOf(
  toolDirectory: Gateway["toolDirectory"],
  shown: readonly CatalogTool[],
  all = shown,
): ToolPicks["groups"] {
  const totals = Map.groupBy(all, ({ server }) => server);
  return [...Map.groupBy(shown, ({ server }) => server)].map(([server, tools]) => ({
    server,
    tools: tools.map((tool) => pickedTool(toolDirectory, tool)),
    total: totals.get(server)?.length ?? 0,
  }));
}

export function isPattern(text: string): boolean {
  return text.includes("*");
}

/**
 * Tools by a pattern in which `*` stands for any letters, none too. With a dot it is about whole
 * names (`git.*`), without one about the server's own names (`*read*`).
 */
export function toolPattern(written: string): (tool: { server: string; name: string }) => boolean {
  const pattern = written.toLowerCase();
  const isWhole = written.includes(".");
  return ({ server, name }) =>
    isMatch(pattern, (isWhole ? `${server}.${name}` : name).toLowerCase());
}
