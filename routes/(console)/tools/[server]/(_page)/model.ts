import {
  canonicalDescription,
  canonicalText,
  type CatalogTool,
} from "../../../../../lib/catalog/catalog_tool.ts";
import { parameterDiffs, parameterTextsIn } from "../../../../../lib/catalog/parameter_texts.ts";
import { namespacedName } from "../../../../../lib/catalog/names.ts";
import { examplesOf } from "../../../../../lib/catalog/tool_examples.ts";
import { wordDiff } from "../../../../../lib/catalog/word_diff.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { FormError } from "../../../../../lib/console/errors.ts";
import { type MissingName, missingName, stretchAround } from "../../../../../lib/console/lists.ts";
import {
  historyOf,
  knownTokens,
  type ToolRow,
  toolRows,
  type WaitingTool,
  waitingTools,
} from "../../../../../lib/console/tool_rows.ts";
import type { ToolWait } from "../../../../../lib/console/ui/tools.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import { parametersOf } from "../../../../../lib/core/parameters.ts";
import { EVERYONE } from "../../../../../lib/core/access.ts";
import { isObject } from "../../../../../lib/core/rpc.ts";
import type { ServerStatus } from "../../../../../lib/core/server.ts";
import type { ToolDefinition } from "../../../../../lib/core/tool.ts";
import { ToolOverride } from "../../../../../lib/storage/catalog_repositories.ts";
import { tryForm } from "./try.ts";

/** A tool that no client gets until it has been reviewed. */
export type WithheldTool = { withheld: string; state: ToolWait; server: ServerStatus };

/** The server has not listed its tools yet, so the tool may or may not exist. */
type UnlistedTool = { unlisted: string; server: ServerStatus };

const NEIGHBORS = 100;
const VERSIONS = 10;
const MAX_JSON = 200_000;
const RELATED = 6;

export type ToolPage = Exclude<
  Awaited<ReturnType<typeof toolPage>>,
  WithheldTool | UnlistedTool | MissingName
>;

/** Everything on one tool's page, or why there is none and which names may have been meant. */
export async function toolPage(
  gateway: Gateway,
  serverName: string,
  toolName: string,
  principal = EVERYONE,
) {
  const server = gateway.servers.list().find(({ name }) => name === serverName);
  const rows = toolRows(gateway, serverName);
  const tool = gateway.servers.tools(serverName).find(({ name }) => name === toolName);
  const waiting = waitingTools(gateway, serverName).find((each) => each.tool === toolName);
  if (!server || !tool) return absentTool(toolName, rows, server, waiting);
  const known = gateway.toolDirectory.table.find(serverName, toolName);
  const [history, knowledge] = await Promise.all([
    historyOf(gateway, serverName, VERSIONS, toolName),
    known && knowledgeOf(gateway, known),
  ]);
  const versions = history && (history.tools[0]?.versions.slice(0, VERSIONS) ?? []);
  return {
    server,
    name: tool.name,
    title: tool.title,
    description: tool.description ?? "",
    hints: hintsOf(tool),
    input: parametersOf(tool.inputSchema),
    tryIt: tryForm(tool, known && gateway.toolCalls.mustConfirm(known, principal)),
    inputJson: indented(tool.inputSchema),
    ...(tool.outputSchema === undefined ? {} : {
      output: parametersOf(tool.outputSchema),
      outputJson: indented(tool.outputSchema),
    }),
    neighbors: stretchAround(rows, rows.findIndex(({ name }) => name === toolName), NEIGHBORS),
    total: rows.length,
    /** Newest first; undefined where the data store does not give them. */
    versions,
    /** Older versions that are not shown, or no longer stored. */
    olderVersions: (versions?.at(-1)?.version ?? 1) - 1,
    /** Undefined in the moment in which the server's list changes. */
    knowledge,
    promotion: promotionOf(gateway, serverName, toolName),
    /** The server lists another version, and clients get the one before it until that is approved. */
    isHeld: waiting?.state === "held",
  };
}

function absentTool(
  tool: string,
  rows: readonly ToolRow[],
  server: ServerStatus | undefined,
  waiting: WaitingTool | undefined,
): WithheldTool | UnlistedTool | MissingName {
  if (server && waiting) return { withheld: tool, state: waiting.state, server };
  const isListed = server === undefined || rows.length > 0 || server.state === "ready";
  if (!isListed) return { unlisted: tool, server };
  return missingName(tool, rows.map(({ name }) => name));
}

export type ToolKnowledge = Awaited<ReturnType<typeof knowledgeOf>>;

async function knowledgeOf(gateway: Gateway, tool: CatalogTool) {
  const { toolDirectory, tokens, toolMetadata } = gateway;
  void tokens.prepare(toolDirectory.visible(EVERYONE, true)).catch(() => {});
  const full = namespacedName(tool.server, tool.name);
  await toolDirectory.prepare();
  const overrides = await toolMetadata.overrides().catch(() => []);
  const found = overrides.find((entry) => entry.server === tool.server && entry.tool === tool.name);
  const { server: _server, tool: _tool, ...override } = found ?? { server: "", tool: "" };
  return {
    ...toolDirectory.metadata(tool),
    isEnabled: tool.enabled,
    namespaced: toolDirectory.table.nameOf(tool, "namespaced"),
    flat: toolDirectory.nameOf(tool),
    collision: gateway.collisions().find(({ namespaced }) => namespaced === full),
    /** Values that people set in place of the inferred ones. */
    override,
    ...knownTokens(toolDirectory, tool),
    examples: examplesOf(tool).map(({ description, invocation }) => ({
      description,
      json: indented(invocation),
    })),
    related: toolDirectory.related(EVERYONE, tool, RELATED).flatMap((flat) => {
      const other = toolDirectory.table.byFlat(flat);
      if (!other) return [];
      const { server, name } = other;
      return { server, name, namespaced: namespacedName(server, name) };
    }),
  };
}

/** A tool's own claims about its effects: hints from a server, never promises. */
const HINTS = {
  readOnlyHint: { label: "Read-only", meaning: "Changes nothing", isRisky: false },
  destructiveHint: { label: "Destructive", meaning: "May delete or overwrite", isRisky: true },
  idempotentHint: {
    label: "Idempotent",
    meaning: "A second call changes nothing more",
    isRisky: false,
  },
  openWorldHint: {
    label: "Open world",
    meaning: "Reaches systems outside its server",
    isRisky: false,
  },
};

function hintsOf({ annotations }: ToolDefinition) {
  if (!isObject(annotations)) return [];
  return Object.entries(HINTS).filter(([name]) =>
    annotations[name] === true && !(name === "destructiveHint" && annotations.readOnlyHint === true)
  ).map(([, hint]) => hint);
}

function indented(schema: unknown): string {
  const text = JSON.stringify(schema, undefined, 2) ?? "";
  return text.length > MAX_JSON ? `${text.slice(0, MAX_JSON)}\n…` : text;
}

export type ToolPromotion = NonNullable<ReturnType<typeof promotionOf>>;

const BY = { caller: "an MCP client", person: "a person", job: "an optimization job" };
const LONGEST = 10_000;

export function promotionOf(
  { promotions, toolDirectory }: Pick<Gateway, "promotions" | "toolDirectory">,
  server: string,
  tool: string,
) {
  const found = promotions.of(server, tool);
  if (found === undefined) return undefined;
  const known = toolDirectory.table.find(server, tool);
  const canonical = ((known ? canonicalDescription(known) : found.canonicalDescription) ?? "")
    .slice(0, LONGEST);
  return {
    /** Empty where the server gives none. */
    canonical,
    promoted: found.description,
    diff: wordDiff(canonical, found.description),
    parameterDiffs: parameterDiffs(
      found.parameters,
      known ? parameterTextsIn(canonicalText(known)) : found.canonicalParameters ?? {},
    ),
    promotedAt: Date.parse(found.promotedAt),
    by: BY[found.by],
    /** The server has changed its own since, and nobody has kept the promoted one. */
    isStale: promotions.staleness(server, tool) !== undefined,
  };
}

export type RefusedOverride = { written: OverrideFields; error: FormError };

const RULES: Record<string, string> = {
  summary: "The summary can have up to 80 characters",
  category: "The category must have 1 to 40 lowercase letters, digits, _ or -",
  deprecated: "The reason can have up to 300 characters",
};
type OverrideFields = Record<"summary" | "category" | "deprecated", string>;

export function readOverride(form: URLSearchParams): OverrideFields {
  const text = (name: string) => form.get(name) ?? "";
  return { summary: text("summary"), category: text("category"), deprecated: text("deprecated") };
}

/** Saves a person's override; an empty field, or a reset, restores the inferred value. */
export async function saveOverride(
  gateway: Pick<Gateway, "toolDirectory" | "describeTool">,
  server: string,
  tool: string,
  form: URLSearchParams,
): Promise<void> {
  if (gateway.toolDirectory.table.find(server, tool) === undefined) {
    throw new GatewayError("TOOL_NOT_FOUND", { message: `There is no tool "${server}.${tool}"` });
  }
  const written = form.has("reset") ? [] : Object.entries(readOverride(form)).flatMap(
    ([name, value]) => {
      const text = value.replaceAll(/\s+/g, " ").trim();
      return text === "" ? [] : [[name, name === "category" ? text.toLowerCase() : text]];
    },
  );
  const parsed = ToolOverride.safeParse({ server, tool, ...Object.fromEntries(written) });
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot save the details of "${server}.${tool}": ${fields.join(" and ")}`,
      recoverySteps: fields.map((field) => RULES[field] ?? "Check it"),
    });
  }
  await gateway.describeTool(parsed.data);
}
