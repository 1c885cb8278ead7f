import * as z from "zod";
import { Toolset } from "../core/tool.ts";
import { type Collection, collection, deleteAll, Repository, setAll } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./records.ts";
import { GatewayError } from "../core/errors.ts";

/** Which toolset a principal has equipped. One whose toolset is gone counts as none. */
const EquippedToolset = z.strictObject({
  principal: z.string(),
  toolset: z.string(),
  /** A toolset that is deleted and created again is another one. */
  toolsetId: z.string(),
  equippedAt: z.number(),
});
export type EquippedToolset = z.infer<typeof EquippedToolset>;

const EquippedToolsets = collection({
  noun: "equipped toolset",
  key: keys.equippedToolsets,
  schema: EquippedToolset,
  idOf: ({ principal }) => principal,
});

export class ToolsetsRepository extends collection({
  noun: "toolset",
  key: keys.toolsets,
  schema: Toolset,
  idOf: ({ name }) => name,
}) {
  readonly equipped: Collection<EquippedToolset> = new EquippedToolsets(this.store);

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
    const key = keys.equippedToolsets(principal);
    const done = await this.store.tryCommit({
      checks: [
        { key: keys.toolsets(name), versionstamp: toolset.versionstamp },
        { key, versionstamp: before?.versionstamp ?? null },
      ],
      sets: [{ key, value }],
    });
    return done !== undefined;
  }
}

/** Which tools of a server may be seen and called; a server without a record has all of them on. */
const EnabledTools = z.strictObject({
  server: z.string(),
  tools: z.array(z.string()),
});
type EnabledTools = z.infer<typeof EnabledTools>;

export class EnabledToolsRepository extends collection({
  noun: "selection of tools",
  key: keys.enabledTools,
  schema: EnabledTools,
  idOf: ({ server }) => server,
}) {
  /** Replaces the selection whatever it was; null: all tools are on, new ones too. */
  async set(server: string, tools: string[] | null): Promise<void> {
    if (tools === null) return await this.delete(server);
    const found = await this.find(server);
    await this.save({ server, tools: [...new Set(tools)].sort() }, found?.versionstamp ?? null);
  }
}

/** What somebody has said of a tool, in place of what is inferred. */
export const ToolOverride = z.strictObject({
  server: z.string(),
  tool: z.string(),
  summary: z.string().max(80).optional(),
  category: z.string().regex(/^[a-z0-9_-]{1,40}$/).optional(),
  /** Why not to use it any more, and what instead. */
  deprecated: z.string().max(300).optional(),
});
export type ToolOverride = z.infer<typeof ToolOverride>;

const Tokens = z.record(z.string(), z.int());

const Overrides = collection({
  noun: "tool's metadata",
  key: keys.toolMetadata,
  schema: ToolOverride,
  idOf: ({ server, tool }) => [server, tool],
});

export class ToolMetadataRepository extends Repository {
  readonly #overrides = new Overrides(this.store);

  overrides(): Promise<ToolOverride[]> {
    return this.#overrides.values();
  }

  find(server: string, tool: string): Promise<Stored<ToolOverride> | undefined> {
    return this.#overrides.find([server, tool]);
  }

  /**
   * Saves whatever was there before; with a versionstamp, only over that version, and with null only
   * where there is none. One that says nothing is as good as none.
   */
  async save(override: ToolOverride, versionstamp?: string | null): Promise<void> {
    const { server, tool, ...said } = override;
    const key = keys.toolMetadata(server, tool);
    const isEmpty = Object.keys(said).length === 0;
    const saved = await this.store.tryCommit({
      checks: versionstamp === undefined ? [] : [{ key, versionstamp }],
      ...(isEmpty ? { deletes: [key] } : { sets: [{ key, value: override }] }),
    });
    if (saved !== undefined) return;
    throw new GatewayError("CONFLICT", {
      message: `Someone else changed the overrides of "${server}.${tool}" in the meantime`,
    });
  }

  async tokens(server: string): Promise<Map<string, number>> {
    return new Map(Object.entries(await this.readAs(keys.toolTokens(server), Tokens) ?? {}));
  }

  saveTokens(server: string, tokens: ReadonlyMap<string, number>): Promise<void> {
    return this.put(keys.toolTokens(server), Object.fromEntries(tokens));
  }
}

const StoredVector = z.strictObject({ bytes: z.base64() });

type Vector = Int8Array<ArrayBuffer>;

/** The vectors of texts by model and content hash, a byte a dimension; a cache. */
export class VectorsRepository extends Repository {
  async find(model: string, hashes: Iterable<string>): Promise<Map<string, Vector>> {
    const found = await Promise.all(
      Array.from(hashes, async (hash): Promise<[string, Vector][]> => {
        const stored = await this.readAs(keys.vectors(model, hash), StoredVector);
        return stored ? [[hash, new Int8Array(Uint8Array.fromBase64(stored.bytes).buffer)]] : [];
      }),
    );
    return new Map(found.flat());
  }

  async save(model: string, vectors: ReadonlyMap<string, Vector>): Promise<void> {
    const records = [...vectors].map(([hash, vector]) => ({
      key: keys.vectors(model, hash),
      value: { bytes: new Uint8Array(vector.buffer).toBase64() },
    }));
    await setAll(this.store, records);
  }

  /** Deletes those of texts that are not in use, once they are more than `most`. */
  async prune(model: string, used: ReadonlySet<string>, most: number): Promise<number> {
    const records = this.store.list({ prefix: keys.vectors(model) });
    const all = await Array.fromAsync(records, ({ key }) => key);
    const unused = all.filter((key) => !used.has(String(key.at(-1))));
    return unused.length <= most ? 0 : await deleteAll(this.store, unused);
  }
}
