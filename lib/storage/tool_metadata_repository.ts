import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./record_reader.ts";
import type { Store } from "./store.ts";

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

/** What is known of tools beyond their definitions. */
export class ToolMetadataRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async overrides(): Promise<ToolOverride[]> {
    const found: ToolOverride[] = [];
    for await (const { key, value } of this.#store.list({ prefix: [...keys.toolMetadata()] })) {
      const parsed = ToolOverride.safeParse(value);
      if (parsed.success) found.push(parsed.data);
      else this.#store.warn("What was said of a tool cannot be read and is left out", { key });
    }
    return found;
  }

  async find(server: string, tool: string): Promise<Stored<ToolOverride> | undefined> {
    const record = await this.#store.read(keys.toolMetadataOf(server, tool));
    const parsed = ToolOverride.safeParse(record?.value);
    return record && parsed.success
      ? { value: parsed.data, versionstamp: record.versionstamp }
      : undefined;
  }

  /**
   * Saves whatever was there before; with a versionstamp, only over that version, and with null only
   * where there is none. One that says nothing is as good as none.
   */
  async save(override: ToolOverride, versionstamp?: string | null): Promise<void> {
    const { server, tool, ...said } = override;
    const key = keys.toolMetadataOf(server, tool);
    const isEmpty = Object.keys(said).length === 0;
    const saved = await this.#store.tryCommit({
      checks: versionstamp === undefined ? [] : [{ key, versionstamp }],
      ...(isEmpty ? { deletes: [key] } : { sets: [{ key, value: override }] }),
    });
    if (saved !== undefined) return;
    throw new GatewayError("CONFLICT", {
      message: `What is said of "${server}.${tool}" was changed by somebody else in the meantime`,
    });
  }

  async tokens(server: string): Promise<Map<string, number>> {
    const record = await this.#store.read(keys.toolTokens(server));
    const parsed = Tokens.safeParse(record?.value);
    return new Map(parsed.success ? Object.entries(parsed.data) : []);
  }

  async saveTokens(server: string, tokens: ReadonlyMap<string, number>): Promise<void> {
    const value = Object.fromEntries(tokens);
    await this.#store.commit({
      sets: [{ key: keys.toolTokens(server), value }],
      announce: false,
    });
  }
}
