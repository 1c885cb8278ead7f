import { z } from "zod";
import { canonicalDescription, type CatalogTool } from "../../../../../lib/catalog/catalog_tool.ts";
import type { Collision } from "../../../../../lib/catalog/name_table.ts";
import { namespacedName } from "../../../../../lib/catalog/names.ts";
import { examplesOf } from "../../../../../lib/catalog/tool_arguments.ts";
import type { ToolStep } from "../../../../../lib/catalog/tool_history.ts";
import { type TextSegment, wordDiff } from "../../../../../lib/catalog/word_diff.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { FormError } from "../../../../../lib/console/errors.ts";
import { type MissingName, stretchAround } from "../../../../../lib/console/lists.ts";
import {
  historyOf,
  knownTokens,
  type ToolRow,
  toolRows,
  type WaitingTool,
  waitingTools,
} from "../../../../../lib/console/tool_rows.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import { nearestNames } from "../../../../../lib/core/text.ts";
import { type Parameters, parametersOf } from "../../../../../lib/core/parameters.ts";
import { EVERYONE } from "../../../../../lib/core/access.ts";
import type { ServerStatus } from "../../../../../lib/core/server.ts";
import type { ToolDefinition } from "../../../../../lib/core/tool.ts";
import { ToolOverride } from "../../../../../lib/storage/catalog_repositories.ts";
import type { TryForm } from "../(_components)/try_fields.tsx";
import { tryForm } from "./try.ts";

/** What a tool says about its own effects; hints from a server, never promises. */
const Annotations = z.looseObject({
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});

/** What the gateway knows of a tool beyond its definition. */
export interface ToolKnowledge {
  isEnabled: boolean;
  /** What it is called at the endpoints. */
  namespaced: string;
  flat: string;
  /** Where its plain flat name belongs to another. */
  collision?: Collision;
  summary: string;
  category: string;
  deprecated?: string;
  /** What people set in place of what is inferred. */
  override: Omit<ToolOverride, "server" | "tool">;
  /** What listing it costs a model; undefined until it has been counted. */
  tokens?: number;
  examples: { description: string; json: string }[];
  related: { server: string; name: string; namespaced: string }[];
}

export interface ToolPage {
  server: ServerStatus;
  name: string;
  title?: string;
  description: string;
  hints: { label: string; meaning: string; isRisky: boolean }[];
  input: Parameters;
  tryIt: TryForm;
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
  /** Undefined in the moment in which the server's list changes. */
  knowledge: ToolKnowledge | undefined;
  /** The description that clients read in the place of the server's own, where there is one. */
  promotion?: ToolPromotion;
  /** The server lists another version, and clients get the one before it until that is approved. */
  isHeld: boolean;
}

/** A tool that its server lists and no client gets, until somebody has decided on it. */
export interface WithheldTool {
  withheld: string;
  state: WaitingTool["state"];
  server: ServerStatus;
}

/** A tool of a server that has not listed its tools: whether there is such a tool is not known. */
interface UnlistedTool {
  unlisted: string;
  server: ServerStatus;
}

type ToolGateway = Pick<
  Gateway,
  | "servers"
  | "toolDirectory"
  | "tokens"
  | "toolMetadata"
  | "collisions"
  | "promotions"
  | "review"
  | "toolCalls"
>;

const NEIGHBORS = 100;
const VERSIONS = 10;
const MAX_JSON = 200_000;
const RELATED = 6;

/** Everything on one tool's page, or why there is none and which names may have been meant. */
export async function toolPage(
  gateway: ToolGateway,
  serverName: string,
  toolName: string,
  principal = EVERYONE,
): Promise<ToolPage | WithheldTool | UnlistedTool | MissingName> {
  const server = gateway.servers.list().find(({ name }) => name === serverName);
  const rows = toolRows(gateway, serverName);
  const tool = gateway.servers.tools(serverName).find(({ name }) => name === toolName);
  const waiting = waitingTools(gateway, serverName).find((each) => each.tool === toolName);
  if (server === undefined || tool === undefined) {
    if (server && waiting) return { withheld: toolName, state: waiting.state, server };
    const isListed = server === undefined || rows.length > 0 || server.state === "ready";
    if (!isListed) return { unlisted: toolName, server };
    return { missing: toolName, nearest: nearestNames(toolName, rows.map(({ name }) => name)) };
  }
  const known = gateway.toolDirectory.table.find(serverName, toolName);
  const [history, knowledge] = await Promise.all([
    historyOf(gateway, serverName, VERSIONS, toolName),
    known && knowledgeOf(gateway, known),
  ]);
  const versions = history && (history.tools[0]?.versions.slice(0, VERSIONS) ?? []);
  return {
    server,
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
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
    versions,
    olderVersions: (versions?.at(-1)?.version ?? 1) - 1,
    knowledge,
    ...promotionOf(gateway, serverName, toolName),
    isHeld: waiting?.state === "held",
  };
}

async function knowledgeOf(gateway: ToolGateway, tool: CatalogTool): Promise<ToolKnowledge> {
  const { toolDirectory, tokens, toolMetadata } = gateway;
  void tokens.prepare(toolDirectory.visible(EVERYONE, true)).catch(() => {});
  const { summary, category, deprecated } = toolDirectory.metadata(tool);
  const full = namespacedName(tool.server, tool.name);
  const collision = gateway.collisions().find(({ namespaced }) => namespaced === full);
  const overrides = await toolMetadata.overrides().catch(() => []);
  const found = overrides.find((entry) => entry.server === tool.server && entry.tool === tool.name);
  const { server: _server, tool: _tool, ...override } = found ?? { server: "", tool: "" };
  return {
    isEnabled: tool.enabled,
    namespaced: toolDirectory.table.nameOf(tool, "namespaced"),
    flat: toolDirectory.nameOf(tool),
    ...(collision === undefined ? {} : { collision }),
    summary,
    category,
    ...(deprecated === undefined ? {} : { deprecated }),
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

/** A promoted description beside the server's own. */
export interface ToolPromotion {
  /** Empty where the server gives none. */
  canonical: string;
  promoted: string;
  /** What the promoted one takes from and adds to the server's own. */
  diff: TextSegment[];
  promotedAt: number;
  by: string;
  /** The server has changed its own since, and nobody has kept the promoted one. */
  isStale: boolean;
}

const BY = { caller: "an MCP client", person: "a person", job: "an optimization job" };
const LONGEST = 10_000;

/** What is promoted for a tool, if anything is. */
export function promotionOf(
  { promotions, toolDirectory }: Pick<Gateway, "promotions" | "toolDirectory">,
  server: string,
  tool: string,
): { promotion?: ToolPromotion } {
  const found = promotions.of(server, tool);
  if (found === undefined) return {};
  const known = toolDirectory.table.find(server, tool);
  const canonical = (known ? canonicalDescription(known) : found.canonicalDescription) ?? "";
  return {
    promotion: {
      canonical: canonical.slice(0, LONGEST),
      promoted: found.description,
      diff: wordDiff(canonical.slice(0, LONGEST), found.description),
      promotedAt: Date.parse(found.promotedAt),
      by: BY[found.by],
      isStale: promotions.staleness(server, tool) !== undefined,
    },
  };
}

/** What a person wrote of a tool that could not be saved, and why. */
export interface RefusedOverride {
  written: OverrideFields;
  error: FormError;
}

type OverrideFields = Record<"summary" | "category" | "deprecated", string>;

export function readOverride(form: URLSearchParams): OverrideFields {
  const text = (name: string) => form.get(name) ?? "";
  return {
    summary: text("summary"),
    category: text("category"),
    deprecated: text("deprecated"),
  };
}

/** Keeps what a person wrote of a tool; an empty field, or a reset, leaves it to what is inferred. */
export async function saveOverride(
  gateway: Pick<Gateway, "toolDirectory" | "describeTool">,
  server: string,
  tool: string,
  form: URLSearchParams,
): Promise<void> {
  if (gateway.toolDirectory.table.find(server, tool) === undefined) {
    throw new GatewayError("TOOL_NOT_FOUND", { message: `There is no tool "${server}.${tool}"` });
  }
  const isReset = form.has("reset");
  const written = (name: string) => {
    const text = isReset ? "" : form.get(name)?.replaceAll(/\s+/g, " ").trim() ?? "";
    return text === "" ? {} : { [name]: name === "category" ? text.toLowerCase() : text };
  };
  const parsed = ToolOverride.safeParse({
    server,
    tool,
    ...written("summary"),
    ...written("category"),
    ...written("deprecated"),
  });
  if (!parsed.success) {
    const fields = new Set(parsed.error.issues.map(({ path }) => String(path[0])));
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot save what is said of "${server}.${tool}": ${[...fields].join(" and ")}`,
      recoverySteps: [...fields].map((field) => RULES[field] ?? "Check it"),
    });
  }
  await gateway.describeTool(parsed.data);
}

const RULES: Record<string, string> = {
  summary: "A summary has at most 80 characters",
  category: "A category has 1 to 40 small letters, digits, _ or -",
  deprecated: "The reason has at most 300 characters",
};
