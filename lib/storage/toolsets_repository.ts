import { z } from "zod";
import { Toolset } from "../core/toolset.ts";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./record_reader.ts";
import type { Store } from "./store.ts";

/** Which toolset a principal has equipped. One whose toolset is gone counts as none. */
const EquippedToolset = z.strictObject({
  principal: z.string(),
  toolset: z.string(),
  /** A toolset made anew under the same name is another one. */
  toolsetId: z.string(),
  equippedAt: z.number(),
});
export type EquippedToolset = z.infer<typeof EquippedToolset>;

export class ToolsetsRepository extends Collection<Toolset> {
  readonly equipped: Collection<EquippedToolset>;

  constructor(store: Store) {
    super(store, {
      noun: "toolset",
      prefix: keys.toolsets(),
      key: keys.toolset,
      schema: Toolset,
      idOf: ({ name }) => name,
    });
    this.equipped = new Collection(store, {
      noun: "equipped toolset",
      prefix: keys.equippedToolsets(),
      key: keys.equippedToolset,
      schema: EquippedToolset,
      idOf: ({ principal }) => principal,
    });
  }

  /**
   * Equips the toolset as it was read, over what was equipped when that was read. Answers false where
   * either has changed since.
   */
  async equip(
    principal: string,
    toolset: Stored<Toolset>,
    before: Stored<EquippedToolset> | undefined,
    now: number,
  ): Promise<boolean> {
    const { name, id } = toolset.value;
    const value: EquippedToolset = { principal, toolset: name, toolsetId: id, equippedAt: now };
    const key = keys.equippedToolset(principal);
    const done = await this.store.tryCommit({
      checks: [
        { key: keys.toolset(name), versionstamp: toolset.versionstamp },
        { key, versionstamp: before?.versionstamp ?? null },
      ],
      sets: [{ key, value }],
    });
    return done !== undefined;
  }
}
