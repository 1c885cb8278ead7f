import type { Catalog } from "../catalog.ts";
import type { CatalogTool } from "../catalog_tool.ts";
import { type OnAudit, ownerOf } from "../../core/access.ts";
import { GatewayError } from "../../core/errors.ts";
import { inTurn, retryStale } from "../../core/async.ts";
import { didYouMean, nearestNames } from "../../core/text.ts";
import { type ToolReference, Toolset, ToolsetName } from "../../core/tool.ts";
import type { NameTable, NameTables } from "../name_table.ts";
import type { ResolveContext } from "../resolve.ts";
import type { Stored } from "../../storage/records.ts";
import type { EquippedToolset, ToolsetsRepository } from "../../storage/catalog_repositories.ts";
import {
  type Availability,
  chooseTools,
  ToolsetNews,
  toolsetState,
  type ToolsetTool,
} from "./toolset_tools.ts";

/** Another gateway may win the race this often in a row before we give up. */
const MAX_RACES = 50;

export interface ToolsetsChange {
  toolsets: ReadonlySet<string>;
  principals: ReadonlySet<string>;
}

type ByKey<T> = ReadonlyMap<string, Stored<T>>;

interface ToolsetsOptions {
  repository: ToolsetsRepository;
  catalog: Catalog;
  names: NameTables;
  availability(server: string): Availability;
  onNews(level: "info" | "warn", message: string): void;
  onAudit?: OnAudit | undefined;
}

interface ToolsetDraft {
  name: string;
  description?: string | undefined;
  tools: ToolReference[];
  /** Whether it may take the place of one of the same name. */
  replace?: boolean | undefined;
  /** The only version whose place it may take; without it, any. */
  over?: string | undefined;
  isImported?: boolean | undefined;
}

export class Toolsets {
  readonly #options: ToolsetsOptions;
  #toolsets: ByKey<Toolset> = new Map();
  #equipped: ByKey<EquippedToolset> = new Map();
  /** One load after the other, or an earlier read could be applied last. */
  readonly #inTurn = inTurn();
  readonly #news: ToolsetNews;
  readonly #listeners = new Set<(change: ToolsetsChange) => void>();
  readonly #registered = new WeakMap<Toolset, readonly CatalogTool[]>();
  /** By principal: the operation that was begun last; those before it have ended when it begins. */
  readonly #working = new Map<string, Promise<unknown>>();
  readonly #standIns = new Map<string, string>();

  constructor(options: ToolsetsOptions) {
    this.#options = options;
    this.#news = new ToolsetNews({
      flatName: ({ tool }) => this.#table().nameOf(tool!, "flat"),
      onNews: options.onNews,
    });
  }

  onChange(listener: (change: ToolsetsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async load(): Promise<void> {
    const change = await this.#inTurn(() => this.#read());
    this.recheck();
    if (change.toolsets.size === 0 && change.principals.size === 0) return;
    for (const listener of [...this.#listeners]) listener(change);
  }

  list(): Toolset[] {
    return [...this.#toolsets.values()].map(({ value }) => value);
  }

  find(name: string): Toolset | undefined {
    return this.#toolsets.get(name)?.value;
  }

  resolve(name: string): Toolset {
    const found = this.find(name);
    if (!found) throw noToolset(name, this.list());
    return found;
  }

  versionOf(name: string): string | undefined {
    return this.#toolsets.get(name)?.versionstamp;
  }

  equippedBy(principal: string): Toolset | undefined {
    const owner = ownerOf(principal);
    return this.#equippedBy(this.#standIns.get(owner) ?? owner);
  }

  /** For as long as it is not disposed, one owner is taken to have equipped what another has. */
  standIn(owner: string, principal: string): Disposable {
    this.#standIns.set(owner, ownerOf(principal));
    return { [Symbol.dispose]: () => void this.#standIns.delete(owner) };
  }

  tools(toolset: Toolset): ToolsetTool[] {
    return toolsetState(toolset, this.#table(), this.#options.availability);
  }

  /** The tools of a toolset that can be called now; the same array as long as they are the same. */
  registered(toolset: Toolset): readonly CatalogTool[] {
    const known = this.#registered.get(toolset);
    const tools = this.tools(toolset).flatMap(({ state, tool }) =>
      state === "registered" && tool ? tool : []
    );
    const isSame = known?.length === tools.length &&
      tools.every((tool, index) => tool === known[index]);
    if (isSame) return known;
    this.#registered.set(toolset, tools);
    return tools;
  }

  choose(
    written: Iterable<string>,
    caller: Pick<ResolveContext, "admits" | "away"> = {},
  ): ToolReference[] {
    const { tools, unmatched } = chooseTools(this.#table(), written, caller);
    if (unmatched.length === 0) return tools.map(referenceTo);
    const near = [...new Set(unmatched.flatMap(({ nearest }) => nearest))].slice(0, 10);
    const more = unmatched.length > 10 ? `; and ${unmatched.length - 10} more` : "";
    const message = unmatched.slice(0, 10).map(({ reason }) => reason).join("; ") + more;
    if (unmatched.every(({ code }) => code === "SERVER_STARTING")) {
      throw new GatewayError("SERVER_STARTING", {
        message,
        recoverySteps: ["Try again in a moment", "Nothing was saved"],
      });
    }
    throw new GatewayError("TOOL_NOT_FOUND", {
      message,
      recoverySteps: ["Nothing was saved: check the names"],
      ...didYouMean(near),
      next: [{ label: "Nothing was saved: look up the names", operation: "toolset.discover" }],
    });
  }

  checkDraft({ name, tools, replace = false }: ToolsetDraft): void {
    checkName(name);
    if (tools.length === 0) {
      throw new GatewayError("INVALID_ARGUMENTS", { message: "A toolset needs at least one tool" });
    }
    if (!replace && this.find(name)) throw taken(name);
  }

  async save(draft: ToolsetDraft): Promise<Toolset> {
    const { name, description, tools, replace = false, over, isImported } = draft;
    // What is taken is for the store to say.
    this.checkDraft({ name, tools, replace: true });
    const { repository } = this.#options;
    const now = Date.now();
    const saved = await retryStale(async () => {
      const before = await repository.find(name);
      if (before && !replace) return undefined;
      if (over !== undefined && before?.versionstamp !== over) return "stale";
      const words = description ?? before?.value.description;
      const next = Toolset.safeParse({
        id: before?.value.id ?? crypto.randomUUID(),
        name,
        ...(words === undefined ? {} : { description: words }),
        tools,
        createdAt: before?.value.createdAt ?? now,
        updatedAt: now,
      });
      if (!next.success) {
        throw new GatewayError("INVALID_ARGUMENTS", { message: next.error.issues[0]!.message });
      }
      await repository.save(next.data, before?.versionstamp ?? null);
      this.#note(isImported ? "toolset.import" : "toolset.save", name, before?.value, next.data);
      return next.data;
    }, MAX_RACES);
    if (!saved) throw taken(name);
    await this.load();
    if (saved === "stale") {
      throw new GatewayError("CONFLICT", {
        message: `Cannot save toolset "${name}": someone changed it since you opened it`,
        recoverySteps: ["Reload the toolset, then make your change again"],
      });
    }
    return saved;
  }

  /**
   * Principals that had it equipped have none equipped then. `seen`: the toolsets that an error may
   * name.
   */
  async remove(name: string, seen = this.list()): Promise<void> {
    const { repository } = this.#options;
    await retryStale(async () => {
      const found = await this.#stored(name, seen);
      // What was found, or two who delete it at once would both hear that they did.
      await repository.delete(name, found.versionstamp);
      this.#note("toolset.delete", name, found.value);
    }, MAX_RACES);
    await this.load();
  }

  /** All or nothing: where it fails, what was equipped before stays. */
  async equip(caller: string, name: string, seen = this.list()): Promise<Toolset> {
    const principal = ownerOf(caller);
    if (this.#working.has(principal)) throw inProgress();
    return await this.#work(principal, async () => {
      const { repository } = this.#options;
      const [toolset, before] = await Promise.all([
        this.#stored(name, seen),
        repository.equipped.find(principal),
      ]);
      if (!await repository.equip(principal, toolset, before, Date.now())) throw inProgress();
      this.#options.onAudit?.({
        action: "toolset.equip",
        subject: name,
        ...(before ? { before: { equipped: before.value.toolset } } : {}),
        after: { equipped: name, for: principal },
      });
      this.#news.forget(toolset.value);
      await this.load();
      return toolset.value;
    });
  }

  /** Answers the name of what was equipped; waits for an equip that is under way. */
  async unequip(caller: string): Promise<string | undefined> {
    const principal = ownerOf(caller);
    return await this.#work(principal, async () => {
      const { repository } = this.#options;
      const was = await retryStale(async () => {
        const before = await repository.equipped.find(principal);
        if (!before) return undefined;
        const { toolset: name, toolsetId } = before.value;
        const toolset = await repository.find(name);
        await repository.equipped.delete(principal, before.versionstamp);
        this.#options.onAudit?.({
          action: "toolset.unequip",
          subject: name,
          before: { equipped: name, for: principal },
        });
        return toolset?.value.id === toolsetId ? name : undefined;
      }, MAX_RACES);
      await this.load();
      return was;
    });
  }

  recheck(): void {
    const equipped = [...this.#equipped.keys()].flatMap((owner) => this.#equippedBy(owner) ?? []);
    this.#news.check(new Map(equipped.map((toolset) => [toolset, this.tools(toolset)])));
  }

  #equippedBy(owner: string): Toolset | undefined {
    const equipped = this.#equipped.get(owner)?.value;
    const toolset = equipped && this.find(equipped.toolset);
    return toolset?.id === equipped?.toolsetId ? toolset : undefined;
  }

  async #read(): Promise<ToolsetsChange> {
    const { repository } = this.#options;
    const [toolsets, equipped] = await Promise.all([
      Array.fromAsync(repository.list()),
      Array.fromAsync(repository.equipped.list()),
    ]);
    const before = { toolsets: this.#toolsets, equipped: this.#equipped };
    this.#toolsets = keepSame(before.toolsets, toolsets, ({ name }) => name);
    this.#equipped = keepSame(before.equipped, equipped, ({ principal }) => principal);
    const changed = changedKeys(before.toolsets, this.#toolsets);
    const principals = changedKeys(before.equipped, this.#equipped);
    for (const [principal, { value }] of this.#equipped) {
      if (changed.has(value.toolset)) principals.add(principal);
    }
    return { toolsets: changed, principals };
  }

  #note(action: string, subject: string, before?: Toolset, after?: Toolset): void {
    const shown = (toolset?: Toolset) =>
      toolset && {
        ...(toolset.description === undefined ? {} : { description: toolset.description }),
        tools: toolset.tools.map(({ server, tool }) => `${server}.${tool}`),
      };
    this.#options.onAudit?.({ action, subject, before: shown(before), after: shown(after) });
  }

  #table(): NameTable {
    return this.#options.names.of(this.#options.catalog.snapshot);
  }

  /** As the store has it: what is in memory may be a moment behind. */
  async #stored(name: string, seen: readonly Toolset[]): Promise<Stored<Toolset>> {
    const found = ToolsetName.safeParse(name).success && await this.#options.repository.find(name);
    if (!found) throw noToolset(name, seen);
    return found;
  }

  async #work<T>(principal: string, operation: () => Promise<T>): Promise<T> {
    const before = this.#working.get(principal) ?? Promise.resolve();
    const working = before.then(operation, operation);
    this.#working.set(principal, working);
    try {
      return await working;
    } finally {
      if (this.#working.get(principal) === working) this.#working.delete(principal);
    }
  }
}

export function referenceTo({ server, name, fingerprint }: CatalogTool): ToolReference {
  return { server, tool: name, fingerprint };
}

export function fittingToolsetName(name: string): string {
  if (ToolsetName.safeParse(name).success) return name;
  return name.trim().replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
}

function checkName(name: string): void {
  const parsed = ToolsetName.safeParse(name);
  if (parsed.success) return;
  const fitting = fittingToolsetName(name);
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot save toolset "${name.slice(0, 100)}": ${parsed.error.issues[0]!.message}`,
    ...(fitting === "" ? {} : { hint: `For example: ${fitting}` }),
  });
}

function taken(name: string): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `Toolset "${name}" already exists`,
    recoveryAction: "Choose another name, or replace the existing toolset",
    recoverySteps: ["Choose another name", "Or replace the existing toolset"],
    next: [{
      label: "Choose another name, or replace the existing toolset",
      operation: "toolset.create",
      input: { name, replace: true },
    }],
  });
}

function inProgress(): GatewayError {
  return new GatewayError("OPERATION_IN_PROGRESS", {
    message: "Registration operation in progress, please wait",
  });
}

/** The same object for the same version, so that what was made of it stays good. */
function keepSame<T>(
  before: ByKey<T>,
  records: Stored<T>[],
  keyOf: (value: T) => string,
): ByKey<T> {
  return new Map(records.map((record) => {
    const key = keyOf(record.value);
    const known = before.get(key);
    return [key, known?.versionstamp === record.versionstamp ? known : record];
  }));
}

function changedKeys<T>(before: ByKey<T>, after: ByKey<T>): Set<string> {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return new Set([...keys].filter((key) => before.get(key) !== after.get(key)));
}

/** `seen`: the toolsets that the caller may know of. */
export function noToolset(name: string, seen: readonly Toolset[]): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `There is no toolset "${name.slice(0, 100)}"`,
    recoveryAction: "Check the name in the list of toolsets",
    ...didYouMean(nearestNames(name, seen.map((toolset) => toolset.name))),
    next: [{ label: "See all toolsets", operation: "toolset.list" }],
  });
}
