import { z } from "zod";
import { ServerName, ServerSpec } from "../core/server.ts";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** A server that was added at run time, not in a file. */
export const AddedServer = z.strictObject({
  name: ServerName,
  spec: ServerSpec,
  /** In ms since the epoch. */
  addedAt: z.number(),
});
export type AddedServer = z.infer<typeof AddedServer>;

export class ServersRepository extends Collection<AddedServer> {
  constructor(store: Store) {
    super(store, {
      noun: "server",
      prefix: keys.servers(),
      key: keys.server,
      schema: AddedServer,
      idOf: ({ name }) => name,
      missing: "SERVER_NOT_FOUND",
    });
  }
}
