import type { Catalog } from "../catalog/catalog.ts";
import {
  canonicalDescription,
  canonicalText,
  type CatalogTool,
  renamed,
  withDescription,
} from "../catalog/catalog_tool.ts";
import type { NameTable, NameTables } from "../routing/name_table.ts";
import type { ShownTool } from "./evaluator.ts";
import type { SelectedTool } from "./job_selection.ts";
import type { RankedTool } from "./second_opinion.ts";
import type { Subject, Subjects } from "./subjects.ts";

export interface CatalogSubjectsOptions {
  catalog: Catalog;
  names: NameTables;
  /** The tools of the equipped toolset, of whatever servers. */
  equipped(): readonly CatalogTool[];
}

/** The tools whose descriptions can be put to the test, as the catalog has them. */
export class CatalogSubjects implements Subjects {
  readonly #options: CatalogSubjectsOptions;

  constructor(options: CatalogSubjectsOptions) {
    this.#options = options;
  }

  find(server: string, name: string): Subject | undefined {
    const table = this.#table();
    const tool = table.find(server, name);
    if (!tool) return undefined;
    const own = canonicalDescription(tool);
    const { description: _, ...definition } = tool.definition;
    return {
      server,
      name,
      description: own ?? "",
      definition: { ...definition, ...(own === undefined ? {} : { description: own }) },
      siblings: this.#enabled(server).filter((sibling) => sibling !== tool)
        .map(({ name, definition }) => ({ name, description: definition.description ?? "" })),
      enabled: tool.enabled,
      flatName: table.nameOf(tool, "flat"),
      canonicalDescription: own ?? null,
    };
  }

  /** All tools, or those of one server. */
  tools(server?: string): { server: string; tool: string; enabled: boolean }[] {
    const { snapshot } = this.#options.catalog;
    const names = server === undefined ? [...snapshot.servers.keys()].sort() : [server];
    return names.flatMap((name) =>
      this.#options.catalog.of(name).tools.map((tool) => ({
        server: name,
        tool: tool.name,
        enabled: tool.enabled,
      }))
    );
  }

  /** Everything that our own search looks through. */
  searched(): RankedTool[] {
    return [...this.#table().tools()].filter(({ enabled }) => enabled);
  }

  equipped(): SelectedTool[] {
    return this.#options.equipped().map(({ server, name }) => ({ server, tool: name }));
  }

  /** What a model is shown: the server's enabled tools, with this description for one of them. */
  shown(
    server: string,
    name: string,
    description: string,
    beside: readonly SelectedTool[],
  ): ShownTool[] {
    const table = this.#table();
    const others = beside.filter((other) => other.server !== server).flatMap((other) => {
      const found = table.find(other.server, other.tool);
      return found?.enabled ? [found] : [];
    });
    return [...this.#enabled(server), ...others].map((tool) => {
      const isSubject = tool.server === server && tool.name === name;
      const flat = table.nameOf(tool, "flat");
      const shown = isSubject ? described(tool, description) : tool;
      return { name: flat, server: tool.server, tool: tool.name, text: renamed(shown, flat) };
    });
  }

  #enabled(server: string): CatalogTool[] {
    return this.#options.catalog.of(server).tools.filter(({ enabled }) => enabled);
  }

  #table(): NameTable {
    return this.#options.names.of(this.#options.catalog.snapshot);
  }
}

/** The server's own description is shown as the server writes it, also where it writes none. */
function described(tool: CatalogTool, description: string): CatalogTool {
  return description === (canonicalDescription(tool) ?? "")
    ? { ...tool, text: canonicalText(tool) }
    : withDescription(tool, description);
}
