import { z } from "zod";
import { canonicalText, type CatalogTool } from "../catalog/catalog_tool.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolTokens } from "../catalog/tool_tokens.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/principal.ts";
import { shortened } from "../core/shortened.ts";
import type { Toolset } from "../core/toolset.ts";
import type { NameTable, NameTables } from "../routing/name_table.ts";
import { namespacedName } from "../routing/names.ts";
import type { Admits } from "../routing/resolve.ts";
import type { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import type { Toolsets } from "../toolsets/toolsets.ts";
import type { ToolsetTool, ToolState } from "../toolsets/toolset_state.ts";

/** A tool as people and models write it: any of its names, or `server.*` for all of a server's. */
const WrittenTool = z.union([z.string(), z.object({ namespacedName: z.string() })]);

/** A toolset as people and models write it. */
export const WrittenToolset = z.strictObject({
  name: z.string().describe("Toolset name"),
  description: z.string().max(500).optional(),
  tools: z.array(WrittenTool).min(1).max(2_000).describe('"git.status", or "git.*" for all'),
  replace: z.boolean().optional().describe("Overwrite an existing one"),
});
type WrittenToolset = z.infer<typeof WrittenToolset>;

/** Cursor, for one, sends no more than this many tools to its model. */
const MANY_TOOLS = 40;
const PAGE = 100;
const SUMMARY_CHARS = 100;

export interface ToolsetsAdminOptions {
  toolsets: Toolsets;
  catalog: Catalog;
  names: NameTables;
  canonical: CanonicalToolsRepository;
  tokens: ToolTokens;
  admits: Admits;
  /** Whether a saved toolset exists for a caller; all do where this is missing. */
  admitsToolset?(principal: string, name: string): boolean;
}

export interface ToolsetSummary {
  name: string;
  description?: string;
  toolCount: number;
  registered: number;
  /** Of the tools that are known, as their servers define them. */
  tokens: number;
  createdAt: number;
  updatedAt: number;
  warnings: string[];
}

export interface ToolsetToolDetail {
  namespacedName: string;
  /** What it is called at the doors, where it is registered. */
  name?: string;
  state: ToolState;
  /** What a person should know of it. */
  note?: string;
  tokens?: number;
  /** Where its definition is another one than when it was saved. */
  change?: {
    savedVersion?: number;
    currentVersion?: number;
    compatibility: "compatible" | "breaking" | "unknown";
    reasons: string[];
  };
}

export interface ToolsetDetail extends ToolsetSummary {
  tools: ToolsetToolDetail[];
}

export interface ImportOptions {
  /** Overwrite toolsets of the same name. */
  replace?: boolean;
  /** Only say what would be done. */
  dryRun?: boolean;
}

/** What of an import was done. */
export interface ImportReport {
  saved: string[];
  toolsets: {
    name: string;
    wasNamed?: string;
    toolCount: number;
    unmatched: { written: string; reason: string; nearest: string[] }[];
    /** Why it was not saved. */
    problem?: string;
  }[];
}

interface DiscoverOptions {
  filter?: string | undefined;
  server?: string | undefined;
  page: number;
}

/** Toolsets as people, models and programs see them. */
export class ToolsetsAdmin {
  readonly toolsets: Toolsets;
  readonly #options: ToolsetsAdminOptions;

  constructor(options: ToolsetsAdminOptions) {
    this.toolsets = options.toolsets;
    this.#options = options;
  }

  /** Saves the tools that are meant; where one cannot be found, nothing. */
  async build({ tools, ...draft }: WrittenToolset, principal = EVERYONE): Promise<Toolset> {
    const written = tools.map((tool) => typeof tool === "string" ? tool : tool.namespacedName);
    const admits = (tool: CatalogTool) => this.#options.admits(principal, tool);
    return await this.toolsets.save({ ...draft, tools: this.toolsets.choose(written, admits) });
  }

  /** The toolsets that exist for a caller, with those of their tools that do. */
  visible(principal: string): Toolset[] {
    return this.toolsets.list()
      .filter(({ name }) => this.#options.admitsToolset?.(principal, name) !== false)
      .map((toolset) => this.asSeenBy(principal, toolset));
  }

  /** What a caller has equipped, where that exists for the token it comes with. */
  equippedBy(principal: string): Toolset | undefined {
    const toolset = this.toolsets.equippedBy(principal);
    const isThere = toolset && this.#options.admitsToolset?.(principal, toolset.name) !== false;
    return isThere ? toolset : undefined;
  }

  /** Throws NOT_FOUND where a toolset does not exist for the caller, whoever else has it. */
  checkVisible(principal: string, name: string): void {
    if (this.#options.admitsToolset?.(principal, name) !== false) return;
    throw new GatewayError("NOT_FOUND", {
      message: `There is no toolset "${name.slice(0, 100)}"`,
      recoverySteps: ["Call list-saved-toolsets"],
      suggestedTools: ["list-saved-toolsets"],
    });
  }

  /** Throws where a change would take away what the caller cannot see. */
  checkChangeable(principal: string, name: string): void {
    const toolset = this.toolsets.find(name);
    if (!toolset || this.asSeenBy(principal, toolset) === toolset) return;
    throw new GatewayError("ACCESS_DENIED", {
      message: `The toolset "${name.slice(0, 100)}" belongs to more than this token may see`,
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

  async summary(toolset: Toolset): Promise<ToolsetSummary> {
    const tools = this.toolsets.tools(toolset);
    const known = tools.flatMap(({ tool }) => tool ?? []);
    const { name, description, createdAt, updatedAt } = toolset;
    return {
      name,
      ...(description === undefined ? {} : { description }),
      toolCount: tools.length,
      registered: tools.filter(({ state }) => state === "registered").length,
      tokens: await this.#options.tokens.total(known),
      createdAt,
      updatedAt,
      warnings: [...sizeWarning(tools.length), ...this.missingWords(toolset)],
    };
  }

  async detail(toolset: Toolset): Promise<ToolsetDetail> {
    const summary = await this.summary(toolset);
    return { ...summary, tools: await this.toolDetails(toolset) };
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
      ...(gone === "" ? [] : [`no longer there: ${gone}`]),
      ...(disabled === "" ? [] : [`disabled: ${disabled}`]),
    ];
  }

  /** Every tool there is for a caller, by server, a page at a time. */
  discover({ filter = "", server, page }: DiscoverOptions, principal: string) {
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
    const lines = servers.flatMap(({ name, tools }) => [
      `${name}:`,
      ...tools.map(({ namespacedName, summary }) =>
        `- ${namespacedName}${summary === "" ? "" : `: ${summary}`}`
      ),
    ]);
    const head = found.length === 0
      ? words.length > 0 || server !== undefined
        ? "No tool matches. Try fewer words, or none."
        : "There are no tools: no server is connected."
      : page > pages
      ? `There are only ${pages} pages.`
      : `${found.length} tools${pages > 1 ? `, page ${page} of ${pages}` : ""}`;
    return {
      text: [head, ...lines].join("\n"),
      data: { total: found.length, page, pages, servers },
    };
  }

  async export(names?: readonly string[]) {
    const { exportToolsets } = await import("../toolsets/exchange.ts");
    return exportToolsets(
      names ? names.map((name) => this.toolsets.resolve(name)) : this.toolsets.list(),
    );
  }

  /** Saves what a file holds; a toolset of a name that is taken is left alone unless told. */
  async import(
    value: unknown,
    { replace = false, dryRun = false }: ImportOptions = {},
  ): Promise<ImportReport> {
    const { readImport } = await import("../toolsets/exchange.ts");
    const report: ImportReport = { saved: [], toolsets: [] };
    for (const { unmatched, wasNamed, ...draft } of readImport(value, this.#table())) {
      const entry: ImportReport["toolsets"][number] = {
        name: draft.name,
        ...(wasNamed === undefined ? {} : { wasNamed }),
        toolCount: draft.tools.length,
        unmatched,
      };
      report.toolsets.push(entry);
      try {
        if (dryRun) this.toolsets.checkDraft({ ...draft, replace });
        else await this.toolsets.save({ ...draft, replace, isImported: true });
        report.saved.push(draft.name);
      } catch (error) {
        entry.problem = error instanceof Error ? error.message : String(error);
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
    return {
      namespacedName: fullName(entry),
      ...(tool && state === "registered" ? { name: this.#table().nameOf(tool, "flat") } : {}),
      state,
      ...(note === undefined ? {} : { note }),
      ...(tool ? { tokens: this.#options.tokens.of(tool) } : {}),
      ...(change ? { change } : {}),
    };
  }

  async #change(
    { reference, tool }: ToolsetTool,
  ): Promise<NonNullable<ToolsetToolDetail["change"]>> {
    const history = await this.#options.canonical.history(reference.server, reference.tool);
    const [kept] = history.tools;
    const versions = kept ? [kept.current, ...kept.earlier] : [];
    const at = (fingerprint: string | undefined) =>
      versions.findIndex((version) => version.fingerprint === fingerprint);
    const [saved, current] = [at(reference.fingerprint), at(tool?.fingerprint)];
    const before = versions[saved];
    const { compareTools } = await import("../catalog/tool_diff.ts");
    const diff = before && tool ? compareTools(before.text, canonicalText(tool)) : undefined;
    return {
      ...(kept && saved >= 0 ? { savedVersion: kept.version - saved } : {}),
      ...(kept && current >= 0 ? { currentVersion: kept.version - current } : {}),
      compatibility: diff?.compatibility ?? "unknown",
      reasons: diff?.reasons ?? [],
    };
  }
}

const NOTES: Record<Exclude<ToolState, "registered">, string> = {
  waiting: "its server is away; it is registered when the server is back",
  disabled: "switched off by its owner",
  gone: "its server no longer has it",
};

function changeWords({ compatibility, reasons }: NonNullable<ToolsetToolDetail["change"]>): string {
  if (compatibility === "breaking") return `calls may break: ${reasons.join("; ")}`;
  return compatibility === "compatible" ? "calls go on to work" : "how is not known";
}

function sizeWarning(count: number): string[] {
  if (count <= MANY_TOOLS) return [];
  return [
    `${count} tools are more than some clients use (Cursor stops at ${MANY_TOOLS}); fewer work better`,
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
