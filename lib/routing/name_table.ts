import type { CatalogSnapshot, ServerTools } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { flatNames, flatten, MAX_NAME, namespacedName, type Naming } from "./names.ts";
import { ServerNames, toolsText } from "./server_names.ts";

/** A tool that could not have its plain flat name. */
export interface Collision {
  /** The name both would have. */
  plain: string;
  /** Who keeps it: a tool's namespaced name, or undefined for one of the gateway's own tools. */
  keptBy: string | undefined;
  /** Who does not, and what it is called instead. */
  namespaced: string;
  flat: string;
}

interface FlatNames {
  byName: Map<string, CatalogTool>;
  ofTool: Map<CatalogTool, string>;
}

/** Every tool of one snapshot under its names, both ways. What takes time is made when asked for. */
export class NameTable {
  readonly #servers: ReadonlyMap<string, ServerTools>;
  readonly #reserved: ReadonlySet<string>;
  readonly #flatLists = new Map<string, string>();
  #flat: FlatNames | undefined;
  #original: Map<string, CatalogTool[]> | undefined;

  constructor(servers: ReadonlyMap<string, ServerTools>, reserved: ReadonlySet<string>) {
    this.#servers = servers;
    this.#reserved = reserved;
  }

  /** The same with other tools for one server, as it may list them for one client. */
  with(server: string, tools: ServerTools): NameTable {
    return new NameTable(new Map(this.#servers).set(server, tools), this.#reserved);
  }

  server(name: string): ServerNames | undefined {
    const tools = this.#servers.get(name);
    return tools && ServerNames.of(name, tools);
  }

  serverNames(): Iterable<string> {
    return this.#servers.keys();
  }

  /** Every tool, by server. */
  *tools(): Generator<CatalogTool> {
    for (const { tools } of this.#servers.values()) yield* tools;
  }

  find(server: string, tool: string): CatalogTool | undefined {
    return this.server(server)?.original.get(tool);
  }

  nameOf(tool: CatalogTool, naming: Naming): string {
    if (naming === "original") return tool.name;
    if (naming === "flat") return this.#flatNames().ofTool.get(tool)!;
    return this.server(tool.server)!.nameOf(tool);
  }

  byFlat(name: string): CatalogTool | undefined {
    return this.#flatNames().byName.get(name);
  }

  byNamespaced(name: string): CatalogTool | undefined {
    const dot = name.indexOf(".");
    const server = dot > 0 ? this.server(name.slice(0, dot)) : undefined;
    const found = server?.namespaced.get(name) ?? server?.original.get(name.slice(dot + 1));
    if (found) return found;
    // A name that was cut within its server's part has no dot left.
    for (const [known] of this.#servers) {
      if (known.length < MAX_NAME - 8) continue;
      const cut = this.server(known)!.namespaced.get(name);
      if (cut) return cut;
    }
  }

  /** Tools of any server that have this name there. */
  byOriginal(name: string): readonly CatalogTool[] {
    this.#original ??= Map.groupBy(this.tools(), (tool) => tool.name);
    return this.#original.get(name) ?? [];
  }

  /** Tools that are kept from everybody, by any of their names; of one server alone where told. */
  *quarantined(name: string, server?: string): Generator<CatalogTool> {
    for (const [known, { quarantined = [] }] of this.#servers) {
      if (server !== undefined && known !== server) continue;
      for (const { tool } of quarantined) {
        const whole = namespacedName(known, tool.name);
        const names = [tool.name, whole, flatten(whole), `${known}:${tool.name}`];
        if (names.includes(name)) yield tool;
      }
    }
  }

  /** One server's tools/list, as text. */
  listText(server: string, naming: Naming): string {
    if (naming !== "flat") return this.server(server)?.listText(naming) ?? toolsText([]);
    let text = this.#flatLists.get(server);
    if (text === undefined) {
      const tools = this.#servers.get(server)?.tools ?? [];
      text = toolsText(tools.map((tool) => [this.nameOf(tool, "flat"), tool]));
      this.#flatLists.set(server, text);
    }
    return text;
  }

  /** Tools whose plain flat name belongs to another. */
  collisions(): Collision[] {
    const { ofTool, byName } = this.#flatNames();
    const found: Collision[] = [];
    for (const [tool, flat] of ofTool) {
      const namespaced = namespacedName(tool.server, tool.name);
      const plain = flatten(namespaced);
      if (plain === flat || plain.length > MAX_NAME) continue;
      const keeper = byName.get(plain);
      const keptBy = keeper && namespacedName(keeper.server, keeper.name);
      found.push({ plain, keptBy, namespaced, flat });
    }
    return found;
  }

  #flatNames(): FlatNames {
    if (this.#flat) return this.#flat;
    const tools = new Map<string, CatalogTool>();
    for (const tool of this.tools()) tools.set(namespacedName(tool.server, tool.name), tool);
    const byName = new Map<string, CatalogTool>();
    const ofTool = new Map<CatalogTool, string>();
    for (const [namespaced, flat] of flatNames(tools.keys(), this.#reserved)) {
      const tool = tools.get(namespaced)!;
      byName.set(flat, tool);
      ofTool.set(tool, flat);
    }
    return this.#flat = { byName, ofTool };
  }
}

/** The table of each snapshot, made once. */
export class NameTables {
  readonly #reserved: ReadonlySet<string>;
  readonly #tables = new WeakMap<CatalogSnapshot, NameTable>();

  /** Flat names of the gateway's own tools, which no other tool may have. */
  constructor(reserved: Iterable<string>) {
    this.#reserved = new Set(reserved);
  }

  of(snapshot: CatalogSnapshot): NameTable {
    let table = this.#tables.get(snapshot);
    if (!table) this.#tables.set(snapshot, table = new NameTable(snapshot.servers, this.#reserved));
    return table;
  }
}
