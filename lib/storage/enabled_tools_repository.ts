import { z } from "zod";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** Which tools of a server may be seen and called; a server without a record has all of them on. */
export const EnabledTools = z.strictObject({
  server: z.string(),
  tools: z.array(z.string()),
});
export type EnabledTools = z.infer<typeof EnabledTools>;

export class EnabledToolsRepository extends Collection<EnabledTools> {
  constructor(store: Store) {
    super(store, {
      noun: "selection of tools",
      prefix: keys.enabledTools(),
      key: keys.enabledToolsOf,
      schema: EnabledTools,
      idOf: ({ server }) => server,
    });
  }

  /** Replaces the selection whatever it was; null: all tools are on, new ones too. */
  async set(server: string, tools: string[] | null): Promise<void> {
    if (tools === null) return await this.delete(server);
    const found = await this.find(server);
    await this.save({ server, tools: [...new Set(tools)].sort() }, found?.versionstamp ?? null);
  }
}
