import type { CatalogSnapshot, ServerTools } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { type Collision, findCollisions } from "./collisions.ts";
import { flatNames, namesOf, namespacedName, type Naming, roomBeforeHash } from "./names.ts";
import { ServerNames, toolsText } from "./server_names.ts";

/** What the names of one gateway keep to. */
export interface NameRules {
  /** Flat names of the gateway's own tools, which no other tool may have. */
  reserved: ReadonlySet<string>;
  /** The most characters of a name: clients put prefixes before it, and stop somewhere. */
  maxLength: number;
}

interface FlatNames {
  byName: Map<string, CatalogTool>;
  ofTool: Map<CatalogTool, string>;
}

/** Every tool of one snapshot under its names, both ways. What takes time is made when asked for. */
export class NameTable {
  readonly #servers: ReadonlyMap<string, ServerTools>;
  readonly #rules: NameRules;
  /** Made once for each list, whatever becomes of other servers. */
  readonly #ofServers: WeakMap<ServerTools, ServerNames>;
  readonly #flatLists = new Map<string, string>();
  #flat: FlatNames | undefined;
  #collisions: Collision[] | undefined;
  #original: Map<string, CatalogTool[]> | undefined;

  constructor(
    servers: ReadonlyMap<string, ServerTools>,
    rules: NameRules,
    ofServers = new WeakMap<ServerTools, ServerNames>(),
  ) {
    this.#servers = servers;
    this.#rules = rules;
    this.#ofServers = ofServers;
  }

  /** The same with other tools for one server, as it may list them for one client. */
  with(server: string, tools: ServerTools): NameTable {
    return new NameTable(new Map(this.#servers).set(server, tools), this.#rules, this.#ofServers);
  }

  server(name: string): ServerNames | undefined {
    const tools = this.#servers.get(name);
    if (!tools) return undefined;
    let names = this.#ofServers.get(tools);
    if (!names) {
      names = new ServerNames(name, tools, this.#rules.maxLength);
      this.#ofServers.set(tools, names);
    }
    return names;
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
      if (known.length < roomBeforeHash(this.#rules.maxLength)) continue;
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
        if (namesOf(known, tool.name, this.#rules.maxLength).includes(name)) yield tool;
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

  /** Tools whose plain flat name belongs to another, or is the same as another's once it is cut. */
  collisions(): readonly Collision[] {
    if (this.#collisions) return this.#collisions;
    const names = Array.from(
      this.#flatNames().ofTool,
      ([{ server, name }, flat]) => [namespacedName(server, name), flat] as const,
    );
    return this.#collisions = findCollisions(new Map(names), this.#rules.maxLength);
  }

  #flatNames(): FlatNames {
    if (this.#flat) return this.#flat;
    const tools = new Map<string, CatalogTool>();
    for (const tool of this.tools()) tools.set(namespacedName(tool.server, tool.name), tool);
    const byName = new Map<string, CatalogTool>();
    const ofTool = new Map<CatalogTool, string>();
    const { maxLength, reserved } = this.#rules;
    for (const [namespaced, flat] of flatNames(tools.keys(), maxLength, reserved)) {
      const tool = tools.get(namespaced)!;
      byName.set(flat, tool);
      ofTool.set(tool, flat);
    }
    return this.#flat = { byName, ofTool };
  }
}

/** The table of each snapshot, made once. */
export class NameTables {
  readonly #rules: NameRules;
  readonly #tables = new WeakMap<CatalogSnapshot, NameTable>();
  readonly #ofServers = new WeakMap<ServerTools, ServerNames>();

  /** Flat names of the gateway's own tools, and the most characters that a name may have. */
  constructor(reserved: Iterable<string>, maxLength: number) {
    this.#rules = { reserved: new Set(reserved), maxLength };
  }

  get maxLength(): number {
    return this.#rules.maxLength;
  }

  of(snapshot: CatalogSnapshot): NameTable {
    let table = this.#tables.get(snapshot);
    if (!table) {
      table = new NameTable(snapshot.servers, this.#rules, this.#ofServers);
      this.#tables.set(snapshot, table);
    }
    return table;
  }
}
