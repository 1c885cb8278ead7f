import { getOrMake } from "../core/defined.ts";
import {
  cutName,
  fittingNames,
  flatNames,
  flatten,
  hashedName,
  namesOf,
  namespacedName,
  type Naming,
  roomBeforeHash,
} from "./names.ts";
import type { CatalogSnapshot, ServerTools } from "./catalog.ts";
import { type CatalogTool, renamed } from "./catalog_tool.ts";

interface NameRules {
  /** Flat names of the gateway's own tools, which no other tool may have. */
  reserved: ReadonlySet<string>;
  /** The most characters of a name: clients put prefixes before it, and stop somewhere. */
  maxLength: number;
}

export class NameTable {
  readonly #servers: ReadonlyMap<string, ServerTools>;
  readonly #rules: NameRules;
  /** Made once for each list, whatever becomes of other servers. */
  readonly #ofServers: WeakMap<ServerTools, ServerNames>;
  readonly #flatLists = new Map<string, string>();
  #flat: { byName: Map<string, CatalogTool>; ofTool: Map<CatalogTool, string> } | undefined;
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

  listText(server: string, naming: Naming): string {
    if (naming !== "flat") return this.server(server)?.listText(naming) ?? toolsText([]);
    return getOrMake(this.#flatLists, server, () => {
      const tools = this.#servers.get(server)?.tools ?? [];
      return toolsText(tools.map((tool) => [this.nameOf(tool, "flat"), tool]));
    });
  }

  collisions(): readonly Collision[] {
    if (this.#collisions) return this.#collisions;
    const names = Array.from(
      this.#flatNames().ofTool,
      ([{ server, name }, flat]) => [namespacedName(server, name), flat] as const,
    );
    return this.#collisions = findCollisions(new Map(names), this.#rules.maxLength);
  }

  #flatNames() {
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

export class NameTables {
  readonly #rules: NameRules;
  readonly #tables = new WeakMap<CatalogSnapshot, NameTable>();
  readonly #ofServers = new WeakMap<ServerTools, ServerNames>();

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

class ServerNames {
  readonly namespaced: ReadonlyMap<string, CatalogTool>;
  readonly original: ReadonlyMap<string, CatalogTool>;
  readonly #bounded: ReadonlyMap<string, string>;
  readonly #lists = new Map<"namespaced" | "original", string>();

  constructor(server: string, { tools }: ServerTools, maxLength: number) {
    const whole = tools.map(({ name }) => namespacedName(server, name));
    this.#bounded = fittingNames(whole, maxLength);
    this.namespaced = new Map(tools.map((tool) => [this.nameOf(tool), tool]));
    this.original = new Map(tools.map((tool) => [tool.name, tool]));
  }

  nameOf(tool: CatalogTool): string {
    return this.#bounded.get(namespacedName(tool.server, tool.name))!;
  }

  listText(naming: "namespaced" | "original"): string {
    return getOrMake(this.#lists, naming, () => toolsText(this[naming]));
  }
}

function toolsText(tools: Iterable<[string, CatalogTool]>): string {
  const texts: string[] = [];
  for (const [name, tool] of tools) if (tool.enabled) texts.push(renamed(tool, name));
  return `{"tools":[${texts.join(",")}]}`;
}

/** A tool or prompt whose name differs from another's only by the hash at its end. */
export interface Collision {
  /** The name both would have; where both are too long, what is left of it. */
  plain: string;
  /** Who keeps it: a namespaced name, or undefined for one of the gateway's own tools. */
  keptBy: string | undefined;
  /** Where both are too long, so that neither keeps it: the other one. */
  cutLike?: string;
  namespaced: string;
  flat: string;
}

/** Those whose plain flat name belongs to another, or is the same as another's once it is cut. */
export function findCollisions(
  names: ReadonlyMap<string, string>,
  maxLength: number,
): Collision[] {
  const byFlat = new Map(Array.from(names, ([namespaced, flat]) => [flat, namespaced]));
  const firstCut = new Map<string, string>();
  const found: Collision[] = [];
  for (const [namespaced, flat] of names) {
    const whole = flatten(namespaced);
    if (whole === flat) continue;
    const isTooLong = whole.length > maxLength;
    const plain = isTooLong ? hashedName(whole, namespaced, maxLength) : whole;
    if (plain !== flat) found.push({ plain, keptBy: byFlat.get(plain), namespaced, flat });
    if (!isTooLong) continue;
    const cut = cutName(whole, maxLength);
    const cutLike = firstCut.get(cut);
    if (cutLike === undefined) firstCut.set(cut, namespaced);
    else if (plain === flat) {
      found.push({ plain: cut, keptBy: undefined, cutLike, namespaced, flat });
    }
  }
  return found;
}

export type OnPromptCollisions = (
  servers: readonly string[],
  found: readonly Collision[],
) => void;

export class PromptCollisions {
  readonly #isThere: (server: string) => boolean;
  #known: readonly Collision[] = [];

  constructor(isThere: (server: string) => boolean) {
    this.#isThere = isThere;
  }

  note(servers: readonly string[], found: readonly Collision[]): void {
    const listed = new Set(servers);
    const others = this.list().filter((known) => !areBoth(known, (server) => listed.has(server)));
    this.#known = [...others, ...found];
  }

  list(): readonly Collision[] {
    return this.#known.filter((known) => areBoth(known, this.#isThere));
  }
}

function areBoth(
  { namespaced, keptBy, cutLike = keptBy }: Collision,
  isSo: (server: string) => boolean,
): boolean {
  return [namespaced, cutLike ?? namespaced].every((name) =>
    isSo(name.slice(0, name.indexOf(".")))
  );
}
