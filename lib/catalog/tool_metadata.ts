import type { ToolOverride } from "../storage/tool_metadata_repository.ts";
import type { CatalogTool } from "./catalog_tool.ts";
import { categoryOf } from "./tool_category.ts";
import { summaryOf } from "./tool_summary.ts";

/** A tool in short: what an index shows of it. */
export interface ToolMetadata {
  /** One line of at most 80 characters. */
  summary: string;
  category: string;
  /** Why not to use it any more. */
  deprecated?: string;
}

/** Says of each tool what it is in short: as people have put it, else as it can be inferred. */
export class ToolMetadataBook {
  readonly #configured: ReadonlyMap<string, string>;
  #known = new WeakMap<CatalogTool, ToolMetadata>();
  #overrides = new Map<string, ToolOverride>();
  #overridesText = "[]";

  /** Categories by `server.tool` or `server.*`, from the configuration. */
  constructor(categories: Readonly<Record<string, string>> = {}) {
    this.#configured = new Map(Object.entries(categories));
  }

  /** Is another one whenever people have said something else. */
  get edition(): unknown {
    return this.#overridesText;
  }

  /** Answers whether they are others than before. */
  setOverrides(overrides: readonly ToolOverride[]): boolean {
    const text = JSON.stringify(overrides);
    if (text === this.#overridesText) return false;
    this.#overridesText = text;
    this.#overrides = new Map(overrides.map((entry) => [keyOf(entry.server, entry.tool), entry]));
    this.#known = new WeakMap();
    return true;
  }

  of(tool: CatalogTool): ToolMetadata {
    let metadata = this.#known.get(tool);
    if (!metadata) this.#known.set(tool, metadata = this.#read(tool));
    return metadata;
  }

  #read(tool: CatalogTool): ToolMetadata {
    const { server, name, definition } = tool;
    const said = this.#overrides.get(keyOf(server, name));
    const { title, description } = definition;
    const deprecated = said?.deprecated ?? deprecationOf(definition);
    return {
      summary: said?.summary ?? summaryOf({ name, title, description }),
      category: said?.category ?? this.#configured.get(keyOf(server, name)) ??
        this.#configured.get(keyOf(server, "*")) ??
        categoryOf({
          server,
          name,
          ...(title === undefined ? {} : { title }),
          ...(description === undefined ? {} : { description }),
        }),
      ...(deprecated === undefined ? {} : { deprecated }),
    };
  }
}

function keyOf(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** Servers say it in the schema or at the start of the description. */
function deprecationOf({ description = "", inputSchema }: CatalogTool["definition"]) {
  const [, reason] = /^\W*deprecated\b[\s:.\-–—\])]*([^\n]{0,300})/i.exec(description) ?? [];
  if (reason !== undefined) return reason.trim() || "Its server says that it is deprecated";
  return inputSchema.deprecated === true ? "Its server says that it is deprecated" : undefined;
}
