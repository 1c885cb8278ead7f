import type { SeenTool } from "../storage/canonical_tools_repository.ts";
import {
  type BrokenTool,
  canonicalText,
  type CatalogTool,
  isBroken,
  readTool,
  withDescription,
} from "./catalog_tool.ts";

/** A description in the place of the server's own. */
export interface PromotedDescription {
  server: string;
  toolName: string;
  description: string;
}

/** One server's tools at one moment. */
export interface ServerTools {
  tools: readonly CatalogTool[];
  broken: readonly BrokenTool[];
}

/** All tools of all servers at one moment; never changed, only replaced. */
export interface CatalogSnapshot {
  /** Counts up with each change. */
  version: number;
  servers: ReadonlyMap<string, ServerTools>;
}

/** What changed between two snapshots. */
export interface CatalogChange {
  snapshot: CatalogSnapshot;
  /** The servers whose list of tools is another one now. */
  servers: string[];
}

const EMPTY: ServerTools = { tools: [], broken: [] };

/** The one place that knows every tool; requests read its snapshot. */
export class Catalog {
  readonly #listed = new Map<string, string[]>();
  readonly #enabled = new Map<string, ReadonlySet<string>>();
  /** Promoted descriptions by server, then by tool. */
  readonly #promoted = new Map<string, ReadonlyMap<string, string>>();
  readonly #listeners = new Set<(change: CatalogChange) => void>();
  #snapshot: CatalogSnapshot = { version: 0, servers: new Map() };

  get snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  of(server: string): ServerTools {
    return this.#snapshot.servers.get(server) ?? EMPTY;
  }

  onChange(listener: (change: CatalogChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes a server's list as it came; returns what is worth keeping of it. */
  setListed(server: string, texts: string[]): SeenTool[] {
    const known = this.#listed.get(server);
    const isSame = known?.length === texts.length &&
      known.every((text, index) => text === texts[index]);
    if (!isSame) {
      this.#listed.set(server, texts);
      this.#publish(server);
    }
    return this.of(server).tools.map((tool) => ({
      name: tool.name,
      text: canonicalText(tool),
      fingerprint: tool.fingerprint,
    }));
  }

  /** All descriptions that are in force in the place of servers' own. */
  setPromotions(promotions: readonly PromotedDescription[]): void {
    const wanted = Map.groupBy(promotions, ({ server }) => server);
    for (const server of new Set([...this.#promoted.keys(), ...wanted.keys()])) {
      const known = this.#promoted.get(server);
      const tools = new Map(
        wanted.get(server)?.map(({ toolName, description }) => [toolName, description]),
      );
      const isSame = tools.size === (known?.size ?? 0) &&
        [...tools].every(([tool, description]) => known?.get(tool) === description);
      if (isSame) continue;
      if (tools.size === 0) this.#promoted.delete(server);
      else this.#promoted.set(server, tools);
      if (this.#listed.has(server)) this.#publish(server);
    }
  }

  /** Which tools of a server are on; undefined: all of them. */
  setEnabled(server: string, tools: string[] | undefined): void {
    const known = this.#enabled.get(server);
    if (
      tools === undefined
        ? !known
        : known && known.size === tools.length && tools.every((name) => known.has(name))
    ) {
      return;
    }
    if (tools === undefined) this.#enabled.delete(server);
    else this.#enabled.set(server, new Set(tools));
    if (this.#listed.has(server)) this.#publish(server);
  }

  /** All selections there are; a server without one has all its tools on. */
  setSelections(selections: ReadonlyMap<string, string[]>): void {
    for (const server of [...this.#enabled.keys()]) {
      if (!selections.has(server)) this.setEnabled(server, undefined);
    }
    for (const [server, tools] of selections) this.setEnabled(server, tools);
  }

  enabledOf(server: string): string[] | null {
    const enabled = this.#enabled.get(server);
    return enabled ? [...enabled] : null;
  }

  /** Its tools are not there for a while; which of them are on stays known. */
  unlist(server: string): void {
    if (this.#listed.delete(server)) this.#publish(server);
  }

  remove(server: string): void {
    this.#enabled.delete(server);
    this.unlist(server);
  }

  #publish(server: string): void {
    const servers = new Map(this.#snapshot.servers);
    const texts = this.#listed.get(server);
    if (texts) servers.set(server, this.read(server, texts));
    else servers.delete(server);
    this.#snapshot = { version: this.#snapshot.version + 1, servers };
    for (const listener of [...this.#listeners]) {
      listener({ snapshot: this.#snapshot, servers: [server] });
    }
  }

  /** What a list of tools amounts to under the rules for its server. */
  read(server: string, texts: string[]): ServerTools {
    const enabled = this.#enabled.get(server);
    const promoted = this.#promoted.get(server);
    const tools = new Map<string, CatalogTool>();
    const broken: BrokenTool[] = [];
    for (const [index, text] of texts.entries()) {
      const tool = readTool(server, text, index);
      if (isBroken(tool)) broken.push(tool);
      else if (tools.has(tool.name)) broken.push({ ...tool, problem: "its name is listed twice" });
      else {
        const description = promoted?.get(tool.name);
        const shown = description === undefined ? tool : withDescription(tool, description);
        tools.set(tool.name, { ...shown, enabled: enabled?.has(tool.name) ?? true });
      }
    }
    return { tools: [...tools.values()], broken };
  }
}
