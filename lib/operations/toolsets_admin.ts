import * as z from "zod";
import { type CatalogTool, sentText } from "../catalog/catalog_tool.ts";
import type { CatalogModule } from "../catalog/module.ts";
import { defined } from "../core/defined.ts";
import { errorMessage, GatewayError } from "../core/errors.ts";
import { MANY_TOOLS } from "../core/client.ts";
import { shortened } from "../core/text.ts";
import { EVERYONE } from "../core/access.ts";
import type { Toolset } from "../core/tool.ts";
import type { NameTable } from "../catalog/name_table.ts";
import { namespacedName } from "../catalog/names.ts";
import type { Admits } from "../catalog/resolve.ts";
import { noToolset, type Toolsets } from "../catalog/toolsets/toolsets.ts";
import type { ToolsetTool, ToolState } from "../catalog/toolsets/toolset_tools.ts";
import type { StartingServers } from "../mcp/starting_servers.ts";
import { fieldHints } from "./fields.ts";

/** A tool as people and models write it: any of its names, or `server.*` for all of a server's. */
const WrittenTool = z.union([z.string(), z.object({ namespacedName: z.string() })]);

/** A toolset as people and models write it. */
export const WrittenToolset = z.strictObject({
  name: z.string().describe("Toolset name").register(fieldHints, { completes: "nothing" }),
  description: z.string().max(500).optional().describe("What the toolset is for")
    .register(fieldHints, { placeholder: "TEXT" }),
  tools: z.array(WrittenTool).min(1).max(2_000).describe('"git.status", or "git.*" for all')
    .register(fieldHints, { completes: "tool" }),
  replace: z.boolean().default(false).describe("Overwrite toolsets of the same name"),
  copyOf: z.string().optional().describe("Toolset to copy from")
    .register(fieldHints, { isHidden: true, isForPeople: true }),
});

const PAGE = 100;
const SUMMARY_CHARS = 100;

interface ToolsetsAdminOptions
  extends Pick<CatalogModule, "catalog" | "names" | "canonical" | "tokens"> {
  toolsets: Toolsets;
  admits: Admits;
  starting: StartingServers;
  /** Whether a saved toolset exists for a caller; all do where this is missing. */
  admitsToolset?(principal: string, name: string, tools?: Toolset["tools"]): boolean;
}

export const ToolsetSummary = z.object({
  name: z.string(),
  description: z.string().optional(),
  toolCount: z.int(),
  registered: z.int().describe("Number of its tools that can be called now"),
  tokens: z.int().describe("Approximate token cost of listing its known tools"),
  createdAt: z.number(),
  updatedAt: z.number(),
  warnings: z.array(z.string()),
});
export type ToolsetSummary = z.infer<typeof ToolsetSummary>;

const ToolChange = z.object({
  savedVersion: z.int().optional(),
  currentVersion: z.int().optional(),
  compatibility: z.enum(["compatible", "breaking", "unknown"]),
  reasons: z.array(z.string()),
});
type ToolChange = z.infer<typeof ToolChange>;

export const ToolsetToolDetail = z.object({
  namespacedName: z.string(),
  name: z.string().optional().describe("Its name at the endpoints, if it is registered"),
  state: z.enum(["registered", "waiting", "disabled", "gone"]),
  note: z.string().optional(),
  tokens: z.int().optional(),
  change: ToolChange.optional().describe(
    "Present if the definition has changed since the toolset was saved",
  ),
});
export type ToolsetToolDetail = z.infer<typeof ToolsetToolDetail>;

export const ToolsetDetail = ToolsetSummary.extend({ tools: z.array(ToolsetToolDetail) });
export type ToolsetDetail = z.infer<typeof ToolsetDetail>;

export const ImportReport = z.object({
  saved: z.array(z.string()),
  toolsets: z.array(z.object({
    name: z.string(),
    wasNamed: z.string().optional().describe("Its name in the file, if that is not a valid name"),
    toolCount: z.int(),
    unmatched: z.array(z.object({
      written: z.string(),
      reason: z.string(),
      nearest: z.array(z.string()),
    })),
    problem: z.string().optional().describe("Why it was not saved"),
  })),
});
export type ImportReport = z.infer<typeof ImportReport>;

/** Toolsets as people, models and programs see them. */
export class ToolsetsAdmin {
  readonly toolsets: Toolsets;
  readonly #options: ToolsetsAdminOptions;

  constructor(options: ToolsetsAdminOptions) {
    this.toolsets = options.toolsets;
    this.#options = options;
  }

  /**
   * Saves the tools that are meant, or nothing if one cannot be found. A tool of the toolset that is
   * replaced or copied keeps its place even if it is not there now.
   */
  async build(
    { tools, copyOf, version, ...draft }: z.input<typeof WrittenToolset> & {
      /** The version that is replaced; CONFLICT if the toolset has changed since. */
      version?: string | undefined;
    },
    principal = EVERYONE,
  ): Promise<Toolset> {
    const written = tools.map((tool) => typeof tool === "string" ? tool : tool.namespacedName);
    const found = this.toolsets.find(copyOf ?? draft.name);
    const before = found && this.asSeenBy(principal, found);
    const absent = new Map(
      (before ? this.toolsets.tools(before) : []).filter(({ tool }) => !tool?.enabled)
        .map((entry) => [fullName(entry), entry.reference]),
    );
    const caller = {
      admits: (tool: CatalogTool) => this.#options.admits(principal, tool),
      away: () => this.#options.starting.away(principal),
    };
    // All at once first, so that an error names everything that is missing.
    this.toolsets.choose(written.filter((name) => !absent.has(name)), caller);
    const references = written.flatMap((name) =>
      absent.get(name) ?? this.toolsets.choose([name], caller)
    );
    const unique = new Map(
      references.map((each) => [namespacedName(each.server, each.tool), each]),
    );
    return await this.toolsets.save({ ...draft, tools: [...unique.values()], over: version });
  }

  /** The toolsets that exist for a caller, with those of their tools that do. */
  visible(principal: string): Toolset[] {
    return this.toolsets.list()
      .filter(({ name }) => this.isVisible(principal, name))
      .map((toolset) => this.asSeenBy(principal, toolset));
  }

  /** What a caller has equipped, where that exists for the token it comes with. */
  equippedBy(principal: string): Toolset | undefined {
    const toolset = this.toolsets.equippedBy(principal);
    return toolset && this.isVisible(principal, toolset.name) ? toolset : undefined;
  }

  /** The toolset as the caller sees it; throws NOT_FOUND, without naming those it cannot see. */
  resolveVisible(principal: string, name: string): Toolset {
    this.checkVisible(principal, name);
    const found = this.toolsets.find(name);
    if (found) return this.asSeenBy(principal, found);
    throw noToolset(name, this.visible(principal));
  }

  /** Throws NOT_FOUND if a toolset does not exist for the caller, whoever else has it. */
  checkVisible(principal: string, name: string): void {
    if (!this.isVisible(principal, name)) throw noToolset(name, this.visible(principal));
  }

  /** Whether a toolset of this name would exist for the caller. */
  isVisible(principal: string, name: string): boolean {
    const { tools } = this.toolsets.find(name) ?? {};
    return this.#options.admitsToolset?.(principal, name, tools) !== false;
  }

  /** Throws if a toolset does not exist for the caller, or a change would take away what it cannot see. */
  checkChangeable(principal: string, name: string): void {
    this.checkVisible(principal, name);
    const toolset = this.toolsets.find(name);
    if (!toolset || this.asSeenBy(principal, toolset) === toolset) return;
    throw new GatewayError("ACCESS_DENIED", {
      message: `Toolset "${name.slice(0, 100)}" includes tools that this token may not see`,
      recoverySteps: ["Save it under another name", "Or ask the owner to change it"],
    });
  }

  /** A toolset without what a caller may not know of. */
  asSeenBy(principal: string, toolset: Toolset): Toolset {
    if (principal === EVERYONE) return toolset;
    const tools = toolset.tools.filter(({ server, tool }) =>
      this.#options.admits(principal, { server, name: tool })
    );
    return tools.length === toolset.tools.length ? toolset : { ...toolset, tools };
  }

  /** `builtins`: how many of the gateway's own tools clients are listed as well. */
  async summary(toolset: Toolset, builtins = 0): Promise<ToolsetSummary> {
    const tools = this.toolsets.tools(toolset);
    const known = tools.flatMap(({ tool }) => tool ?? []);
    const { name, description, createdAt, updatedAt } = toolset;
    return {
      name,
      ...defined({ description }),
      toolCount: tools.length,
      registered: tools.filter(({ state }) => state === "registered").length,
      tokens: await this.#options.tokens.total(known),
      createdAt,
      updatedAt,
      warnings: [...sizeWarning(tools.length, builtins), ...this.missingWords(toolset)],
    };
  }

  async detail(toolset: Toolset, builtins = 0): Promise<ToolsetDetail> {
    return { ...await this.summary(toolset, builtins), tools: await this.toolDetails(toolset) };
  }

  /** How each tool stands, as far as it is known: nothing is counted for it. */
  async toolDetails(toolset: Toolset): Promise<ToolsetToolDetail[]> {
    const tools = this.toolsets.tools(toolset);
    return await Promise.all(tools.map((tool) => this.#toolDetail(tool)));
  }

  registeredNames(toolset: Toolset): string[] {
    const table = this.#table();
    return this.toolsets.registered(toolset).map((tool) => table.nameOf(tool, "flat"));
  }

  /** What of a toolset is no longer there, in one sentence each. */
  missingWords(toolset: Toolset): string[] {
    const tools = this.toolsets.tools(toolset);
    const named = (state: ToolState) =>
      tools.filter((tool) => tool.state === state).map(fullName).join(", ");
    const [gone, disabled] = [named("gone"), named("disabled")];
    return [
      ...(gone === "" ? [] : [`no longer available: ${gone}`]),
      ...(disabled === "" ? [] : [`disabled: ${disabled}`]),
    ];
  }

  /** Every tool there is for a caller, by server, a page at a time. */
  discover(
    { filter = "", server, page }: {
      filter?: string | undefined;
      server?: string | undefined;
      page: number;
    },
    principal: string,
  ) {
    const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const table = this.#table();
    const found = [...table.tools()].filter((tool) =>
      tool.enabled && (server === undefined || tool.server === server) && matches(tool, words) &&
      this.#options.admits(principal, tool)
    ).sort((a, b) => a.server < b.server ? -1 : a.server > b.server ? 1 : 0);
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    const shown = found.slice((page - 1) * PAGE, page * PAGE);
    const servers = [...Map.groupBy(shown, (tool) => tool.server)].map(([name, tools]) => ({
      name,
      tools: tools.map((tool) => ({
        namespacedName: namespacedName(tool.server, tool.name),
        summary: firstLine(tool.definition.description ?? tool.definition.title ?? ""),
      })),
    }));
    const { starting, note } = this.#options.starting.missingFrom(principal);
    return {
      total: found.length,
      page,
      pages,
      servers,
      ...(starting === undefined ? {} : { starting, note }),
    };
  }

  async export(toolsets: readonly Toolset[]) {
    const { exportToolsets } = await import("../catalog/toolsets/exchange.ts");
    // A toolset of which a caller sees nothing could not be imported again.
    return exportToolsets(toolsets.filter(({ tools }) => tools.length > 0));
  }

  /** Saves the toolsets in a file; an existing toolset of the same name is kept unless `replace` is set. */
  async import(
    value: unknown,
    { replace = false, dryRun = false }: { replace?: boolean; dryRun?: boolean } = {},
  ): Promise<ImportReport> {
    const { readImport } = await import("../catalog/toolsets/exchange.ts");
    const report: ImportReport = { saved: [], toolsets: [] };
    for (const { unmatched, wasNamed, ...draft } of readImport(value, this.#table())) {
      const entry: ImportReport["toolsets"][number] = {
        name: draft.name,
        ...defined({ wasNamed }),
        toolCount: draft.tools.length,
        unmatched,
      };
      report.toolsets.push(entry);
      try {
        if (dryRun) this.toolsets.checkDraft({ ...draft, replace });
        else await this.toolsets.save({ ...draft, replace, isImported: true });
        report.saved.push(draft.name);
      } catch (error) {
        entry.problem = errorMessage(error);
      }
    }
    return report;
  }

  #table(): NameTable {
    return this.#options.names.of(this.#options.catalog.snapshot);
  }

  async #toolDetail(entry: ToolsetTool): Promise<ToolsetToolDetail> {
    const { tool, state } = entry;
    const change = entry.isChanged ? await this.#change(entry) : undefined;
    const note = state === "registered"
      ? change && `changed since it was saved: ${changeWords(change)}`
      : NOTES[state];
    const name = tool && state === "registered" ? this.#table().nameOf(tool, "flat") : undefined;
    const tokens = tool && this.#options.tokens.of(tool);
    return { namespacedName: fullName(entry), state, ...defined({ name, note, tokens, change }) };
  }

  async #change({ reference, tool }: ToolsetTool): Promise<ToolChange> {
    const history = await this.#options.canonical.history(reference.server, reference.tool);
    const [kept] = history.tools;
    const versions = kept ? [kept.current, ...kept.earlier] : [];
    const at = (fingerprint: string | undefined) =>
      versions.findIndex((version) => version.fingerprint === fingerprint);
    const [saved, current] = [at(reference.fingerprint), at(tool?.fingerprint)];
    const before = versions[saved];
    const { compareTools } = await import("../catalog/tool_diff.ts");
    const diff = before && tool ? compareTools(before.text, sentText(tool)) : undefined;
    return {
      ...(kept && saved >= 0 ? { savedVersion: kept.version - saved } : {}),
      ...(kept && current >= 0 ? { currentVersion: kept.version - current } : {}),
      compatibility: diff?.compatibility ?? "unknown",
      reasons: diff?.reasons ?? [],
    };
  }
}

const NOTES: Record<Exclude<ToolState, "registered">, string> = {
  waiting: "its server is not ready; it is added when the server is ready",
  disabled: "disabled by the owner",
  gone: "its server no longer has it",
};

function changeWords({ compatibility, reasons }: ToolChange): string {
  if (compatibility === "breaking") return `calls may break: ${reasons.join("; ")}`;
  return compatibility === "compatible" ? "calls keep working" : "the effect is unknown";
}

function sizeWarning(count: number, builtins: number): string[] {
  const listed = count + builtins;
  if (listed <= MANY_TOOLS) return [];
  return [
    `/mcp would list ${listed} tools, ${builtins} of them the gateway's own, and Cursor stops at ${MANY_TOOLS}; fewer work better`,
  ];
}

function fullName({ reference }: ToolsetTool): string {
  return namespacedName(reference.server, reference.tool);
}

function matches(tool: CatalogTool, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { title = "", description = "" } = tool.definition;
  const text = `${tool.server}.${tool.name} ${title} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return shortened(line, SUMMARY_CHARS);
}
