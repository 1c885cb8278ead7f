import { z } from "zod";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** A tool's definition as the text that came. */
const Definition = z.strictObject({ text: z.string(), fingerprint: z.string() });

/** What is served of one tool, whatever its server says. */
export const PinnedTool = z.strictObject({
  ...Definition.shape,
  name: z.string(),
  /** In ms since the epoch. */
  pinnedAt: z.number(),
  /** Who pinned it; none where it is as it was first seen. */
  by: z.string().optional(),
  /** What was pinned before, for whoever thinks better of it. */
  before: Definition.optional(),
  /** A person chose it over what the server lists: it stays, whatever the policy but `allow`. */
  isKept: z.boolean().optional(),
});
export type PinnedTool = z.infer<typeof PinnedTool>;

/** The pinned tools of one server; one record, so that they change together. */
export const ServerPins = z.strictObject({
  server: z.string(),
  /** Whether all that was listed at first is pinned, so that what has no pin came later. */
  isWhole: z.boolean(),
  tools: z.array(PinnedTool),
});
export type ServerPins = z.infer<typeof ServerPins>;

export class PinsRepository extends Collection<ServerPins> {
  constructor(store: Store) {
    super(store, {
      noun: "list of pinned tools",
      prefix: keys.pins(),
      key: keys.pinsOf,
      schema: ServerPins,
      idOf: ({ server }) => server,
    });
  }
}
