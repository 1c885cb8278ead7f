import { inTurn } from "../../core/async.ts";
import type { Toolset } from "../../core/tool.ts";
import type { Stored } from "../../storage/records.ts";
import type { EquippedToolset, ToolsetsRepository } from "../../storage/catalog_repositories.ts";

/** Which toolsets have changed, and for which principals the equipped one has. */
export interface ToolsetsChange {
  toolsets: ReadonlySet<string>;
  principals: ReadonlySet<string>;
}

type ByKey<T> = ReadonlyMap<string, Stored<T>>;

/** The stored toolsets in memory: read by every request, reloaded after a change. */
export class SavedToolsets {
  readonly #repository: ToolsetsRepository;
  #toolsets: ByKey<Toolset> = new Map();
  #equipped: ByKey<EquippedToolset> = new Map();
  /** One after the other, or an earlier read could be applied last. */
  readonly #inTurn = inTurn();

  constructor(repository: ToolsetsRepository) {
    this.#repository = repository;
  }

  load(): Promise<ToolsetsChange> {
    return this.#inTurn(() => this.#load());
  }

  list(): Toolset[] {
    return [...this.#toolsets.values()].map(({ value }) => value);
  }

  find(name: string): Toolset | undefined {
    return this.#toolsets.get(name)?.value;
  }

  versionOf(name: string): string | undefined {
    return this.#toolsets.get(name)?.versionstamp;
  }

  equippedBy(principal: string): Toolset | undefined {
    const equipped = this.#equipped.get(principal)?.value;
    const toolset = equipped && this.find(equipped.toolset);
    return toolset?.id === equipped?.toolsetId ? toolset : undefined;
  }

  equipped(): Set<Toolset> {
    const toolsets = [...this.#equipped.keys()].flatMap((name) => this.equippedBy(name) ?? []);
    return new Set(toolsets);
  }

  async #load(): Promise<ToolsetsChange> {
    const [toolsets, equipped] = await Promise.all([
      Array.fromAsync(this.#repository.list()),
      Array.fromAsync(this.#repository.equipped.list()),
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
