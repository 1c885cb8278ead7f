import { defined } from "../core/defined.ts";
import type { ModelFamily } from "../core/model_family.ts";
import type { SeenTool } from "../storage/canonical_tools_repository.ts";
import {
  type BrokenTool,
  type CatalogTool,
  isBroken,
  isUsable,
  readTool,
  sentText,
} from "./catalog_tool.ts";
import { ServedTexts } from "./served_texts.ts";
import type { FlaggedTool, HeldTool, ToolGuard } from "./tool_guard.ts";

export interface ServerTools {
  tools: readonly CatalogTool[];
  broken: readonly BrokenTool[];
  /** What its server lists and nobody has approved; clients never hear of these. */
  held?: readonly HeldTool[];
  /** Neither listed nor called, and callers are told so. */
  quarantined?: readonly FlaggedTool[];
  flagged?: readonly FlaggedTool[];
}

interface CatalogOptions {
  guard?: ToolGuard;
  /** Definitions that the guard has not scanned yet: call refresh() once it has. */
  onUnscanned?(server: string, tools: readonly CatalogTool[]): void;
}

export interface CatalogSnapshot {
  version: number;
  servers: ReadonlyMap<string, ServerTools>;
}

/** By a tool's name, for tools that are not listed to all. */
export type ListedTo = ReadonlyMap<string, readonly string[]>;

type HeldListener = (server: string, held: readonly HeldTool[]) => void;

const EMPTY: ServerTools = { tools: [], broken: [] };
/** Maximum number of held tools per server from lists for single clients. */
const MAX_HELD_ELSEWHERE = 100;
/** The newest of each tool: listing ever new versions of one must not push out the others. */
const MAX_VERSIONS = 5;

export class Catalog {
  /** The promoted descriptions, and which client gets which. */
  readonly served: ServedTexts;
  readonly #listed = new Map<string, string[]>();
  /** By server and name: the clients' offers to which a tool is listed, where not to all. */
  readonly #listedTo = new Map<string, ListedTo>();
  /** The last lists of servers that are switched off: what waits for review there still waits. */
  readonly #unlisted = new Map<string, { texts: string[]; read: ServerTools }>();
  readonly #enabled = new Map<string, ReadonlySet<string>>();
  readonly #listeners = new Set<(server: string) => void>();
  /** Lists that were read, so that none is read twice: a restart recalls what servers then list. */
  readonly #parsed = new WeakMap<string[], readonly (CatalogTool | BrokenTool)[]>();
  /** What is held of lists for single clients, by server and name; each version once. */
  readonly #heldElsewhere = new Map<string, Map<string, HeldTool[]>>();
  readonly #elsewhereListeners = new Set<HeldListener>();
  #options: CatalogOptions;
  #snapshot: CatalogSnapshot = { version: 0, servers: new Map() };

  constructor(
    options: CatalogOptions = {},
    clientFamilies?: Readonly<Record<string, ModelFamily>>,
  ) {
    this.#options = options;
    this.served = new ServedTexts(clientFamilies);
  }

  guardWith(options: CatalogOptions): void {
    this.#options = options;
  }

  get snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  of(server: string): ServerTools {
    return this.#snapshot.servers.get(server) ?? EMPTY;
  }

  /** As of(), and the last list of a server that is switched off: for those who review it. */
  reviewOf(server: string): ServerTools {
    return this.#unlisted.get(server)?.read ?? this.of(server);
  }

  onChange(listener: (server: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells of what is held of a list for a single client and of no other that is known. */
  onHeldElsewhere(listener: HeldListener): () => void {
    this.#elsewhereListeners.add(listener);
    return () => this.#elsewhereListeners.delete(listener);
  }

  setListed(server: string, texts: string[], listedTo: ListedTo = new Map()): SeenTool[] {
    const isSame = isSameList(this.#listed.get(server), texts) &&
      isSameListedTo(listedTo, this.#listedTo.get(server));
    if (!isSame) {
      this.#listed.set(server, texts);
      this.#listedTo.set(server, listedTo);
      this.#unlisted.delete(server);
      // Clients with lists of their own get others, too; what they hold is noted when it is read.
      this.#heldElsewhere.delete(server);
      this.#publish(server);
    }
    return listedTools(this.of(server)).map((tool) => ({
      name: tool.name,
      text: sentText(tool),
      fingerprint: tool.fingerprint,
      ...defined({ listedTo: listedTo.get(tool.name) }),
    }));
  }

  parse(server: string, texts: string[]): readonly (CatalogTool | BrokenTool)[] {
    const listed = this.#listed.get(server);
    const known = listed && isSameList(listed, texts) ? this.#parsed.get(listed) : undefined;
    const tools = known ?? parseTools(server, texts);
    this.#parsed.set(texts, tools);
    return tools;
  }

  /** The rules for a server have changed: publishes the tools that differ under them. */
  refresh(server: string): void {
    const unlisted = this.#unlisted.get(server);
    if (unlisted) unlisted.read = this.#read(server, unlisted.texts);
    const texts = this.#listed.get(server);
    if (!texts) return;
    const fresh = this.#read(server, texts);
    const isElsewhere = this.#heldElsewhere.has(server);
    this.#judgeElsewhere(server);
    // Clients with lists of their own read them again when this one changes.
    if (isElsewhere || !isSame(fresh, this.of(server))) this.#publish(server, fresh);
  }

  /** Publishes a server's list in any case, so that clients with lists of their own read them again. */
  republish(server: string): void {
    if (this.#listed.has(server)) this.#publish(server);
  }

  /** What of a server waits for approval, in the list for all or in that of a single client. */
  heldOf(server: string): HeldTool[] {
    const held = this.reviewOf(server).held ?? [];
    const elsewhere = [...this.#heldElsewhere.get(server)?.values() ?? []].flat();
    return [...held, ...without(elsewhere, held)];
  }

  setPromotions(promotions: Parameters<ServedTexts["set"]>[0]): void {
    for (const server of this.served.set(promotions)) {
      if (this.#listed.has(server)) this.#publish(server);
    }
  }

  setEnabled(server: string, tools: string[] | undefined): void {
    const known = this.#enabled.get(server);
    const enabled = tools && new Set(tools);
    if (enabled?.size === known?.size && known?.isSubsetOf(enabled!) !== false) return;
    if (enabled) this.#enabled.set(server, enabled);
    else this.#enabled.delete(server);
    if (this.#listed.has(server)) this.#publish(server);
  }

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
    const texts = this.#listed.get(server);
    if (!texts) return;
    this.#unlisted.set(server, { texts, read: this.of(server) });
    this.#listed.delete(server);
    this.#publish(server);
  }

  remove(server: string): void {
    this.#enabled.delete(server);
    this.unlist(server);
    this.#unlisted.delete(server);
  }

  /** A single client's tool list after the rules for its server are applied. */
  read(server: string, texts: string[]): ServerTools {
    const read = this.#read(server, texts);
    this.#noteHeld(server, read.held ?? []);
    return read;
  }

  #publish(server: string, read?: ServerTools): void {
    const servers = new Map(this.#snapshot.servers);
    const texts = this.#listed.get(server);
    if (texts) servers.set(server, read ?? this.#read(server, texts));
    else {
      servers.delete(server);
      this.#listedTo.delete(server);
      this.#heldElsewhere.delete(server);
    }
    this.#snapshot = { version: this.#snapshot.version + 1, servers };
    for (const listener of [...this.#listeners]) listener(server);
  }

  #read(server: string, texts: string[]): ServerTools {
    const enabled = this.#enabled.get(server);
    const listedTo = this.#listedTo.get(server);
    const parsed = this.#parsed.get(texts) ?? parseTools(server, texts);
    const judged = this.#options.guard?.judge(server, parsed);
    const tools = judged?.tools ?? parsed.filter(isUsable);
    if (judged && judged.unscanned.length > 0) {
      this.#options.onUnscanned?.(server, judged.unscanned);
    }
    return {
      tools: tools.map((tool) => ({
        ...this.served.applyTo(tool),
        enabled: enabled?.has(tool.name) ?? true,
        ...defined({ listedTo: listedTo?.get(tool.name) }),
      })),
      broken: parsed.filter(isBroken),
      ...(judged && judged.held.length > 0 ? { held: judged.held } : {}),
      ...(judged && judged.quarantined.length > 0 ? { quarantined: judged.quarantined } : {}),
      ...(judged && judged.flagged.length > 0 ? { flagged: judged.flagged } : {}),
    };
  }

  #noteHeld(server: string, held: readonly HeldTool[]): void {
    if (held.length === 0) return;
    const before = this.heldOf(server);
    const noted: HeldTool[] = [];
    const known = this.#heldElsewhere.get(server) ?? new Map<string, HeldTool[]>();
    for (const tool of held) {
      const versions = known.get(tool.name) ?? [];
      if (versions.length === 0 && known.size >= MAX_HELD_ELSEWHERE) continue;
      known.set(tool.name, [...without(versions, [tool]), tool].slice(-MAX_VERSIONS));
      noted.push(tool);
    }
    this.#heldElsewhere.set(server, known);
    const fresh = without(noted, before);
    if (fresh.length === 0) return;
    for (const listener of [...this.#elsewhereListeners]) listener(server, fresh);
  }

  /** A decision on one version leaves the others waiting for review. */
  #judgeElsewhere(server: string): void {
    const kept = [...this.#heldElsewhere.get(server)?.values() ?? []].flat()
      .flatMap((held) => this.#options.guard?.judgeHeld(server, held) ?? []);
    if (kept.length === 0) this.#heldElsewhere.delete(server);
    else this.#heldElsewhere.set(server, Map.groupBy(kept, ({ name }) => name));
  }
}

function isSameListedTo(a: ListedTo, b: ListedTo = new Map()): boolean {
  return a.size === b.size &&
    [...a].every(([name, offers]) => offers.join() === b.get(name)?.join());
}

function isSameList(known: readonly string[] | undefined, texts: readonly string[]): boolean {
  return known?.length === texts.length && known.every((text, index) => text === texts[index]);
}

function parseTools(server: string, texts: readonly string[]): (CatalogTool | BrokenTool)[] {
  const names = new Set<string>();
  return texts.map((text, index) => {
    const tool = readTool(server, text, index);
    if (isBroken(tool)) return tool;
    if (names.has(tool.name)) return { ...tool, problem: "its name is listed twice" };
    names.add(tool.name);
    return tool;
  });
}

function listedTools({ tools, held = [], quarantined = [] }: ServerTools): CatalogTool[] {
  const replaced = new Set(held.map(({ name }) => name));
  const shown = [...tools, ...quarantined.map(({ tool }) => tool)];
  return [
    ...shown.filter(({ name }) => !replaced.has(name)),
    ...held.map(({ listed }) => listed).filter(isUsable),
  ];
}

/** Those that the others do not have; all versions of an invalid tool count as one. */
function without(held: readonly HeldTool[], others: readonly HeldTool[]): HeldTool[] {
  const keyOf = ({ name, listed }: HeldTool) =>
    JSON.stringify([name, isBroken(listed) ? "" : listed.fingerprint]);
  const known = new Set(others.map(keyOf));
  return held.filter((tool) => !known.has(keyOf(tool)));
}

function isSame(a: ServerTools, b: ServerTools): boolean {
  return a.tools.length === b.tools.length &&
    a.tools.every(({ text, enabled }, index) =>
      text === b.tools[index]?.text && enabled === b.tools[index].enabled
    ) && reviewText(a) === reviewText(b);
}

function reviewText({ held = [], quarantined = [], flagged = [] }: ServerTools): string {
  const marks = [quarantined, flagged].map((list) =>
    list.map(({ tool, findings }) => [tool.name, tool.fingerprint, findings])
  );
  const waiting = held.map(({ listed, pinned: _, ...rest }) => [listed.text, rest]);
  return JSON.stringify([waiting, marks]);
}
