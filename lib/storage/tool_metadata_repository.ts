import { z } from "zod";
import { keys } from "./keys.ts";
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

  /** One that says nothing is as good as none. */
  async save(override: ToolOverride): Promise<void> {
    const { server, tool, ...said } = override;
    const key = keys.toolMetadataOf(server, tool);
    if (Object.keys(said).length === 0) await this.#store.commit({ deletes: [key] });
    else await this.#store.commit({ sets: [{ key, value: override }] });
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
