/** JSON can carry every key, so that a backup can too. */
export type RecordKey = readonly (string | number)[];

/** Every key of the store. What comes first in a key is its root, the family it belongs to. */
export const keys = {
  /** Says that the store is ours, and which version wrote it. */
  schema: () => ["schema"],
  /** A counter that every change other gateways must hear of adds to. */
  generation: () => ["generation"],
  /** Present while a backup is written into a store that cannot be swapped as a file. */
  restoring: () => ["restoring"],

  servers: () => ["servers"],
  server: (name: string) => ["servers", name],

  /** One tool an entry, under its server. */
  canonicalTools: (server: string) => ["canonical_tools", server],
  canonicalTool: (server: string, tool: string) => ["canonical_tools", server, tool],
  /** What a server lists that is no valid tool; the same name may come more than once. */
  invalidTools: (server: string) => ["invalid_tools", server],
  invalidTool: (server: string, tool: string, nth: number) => [
    "invalid_tools",
    server,
    tool,
    nth,
  ],

  /** Which tools of a server are enabled, where not all are. */
  enabledTools: () => ["enabled_tools"],
  enabledToolsOf: (server: string) => ["enabled_tools", server],

  /** What people say of a tool in place of what is inferred. */
  toolMetadata: () => ["tool_metadata"],
  toolMetadataOf: (server: string, tool: string) => ["tool_metadata", server, tool],
  /** What each tool of a server costs in tokens, by fingerprint. */
  toolTokens: (server: string) => ["tool_tokens", server],

  toolsets: () => ["toolsets"],
  toolset: (name: string) => ["toolsets", name],

  /** Which toolset each principal has equipped. */
  equippedToolsets: () => ["equipped_toolsets"],
  equippedToolset: (principal: string) => ["equipped_toolsets", principal],

  /** Process groups of stdio servers, so that those of a dead gateway can be ended. */
  processes: () => ["processes"],
  process: (id: string) => ["processes", id],

  /** Clients' sessions, so that they survive a restart and a change of instance. */
  sessions: () => ["sessions"],
  session: (id: string) => ["sessions", id],

  /** What the gateway signs with; made once for each store. */
  signingSecret: () => ["signing_secret"],

  /** Calls, some at a time, in the order of time. */
  activity: () => ["activity"],
  activityBatch: (time: number, id: string) => ["activity", time, id],
  /** What each process counted on each day. */
  activityDays: () => ["activity_days"],
  activityDay: (day: string, id: string) => ["activity_days", day, id],

  settings: () => ["settings"],
  setting: (name: string) => ["settings", name],

  /** What texts mean to an embedding model, by the text's hash; a cache. */
  vectors: (model: string) => ["vectors", model],
  vector: (model: string, hash: string) => ["vectors", model, hash],

  leases: () => ["leases"],
  lease: (id: string) => ["leases", id],

  /** One piece of a value that is too large for one entry. */
  part: (id: string, index: number) => ["parts", id, index],
  /** Names the record that a set of parts was written for, so that abandoned sets are found. */
  partOwners: () => ["part_owners"],
  partOwner: (id: string) => ["part_owners", id],
} satisfies Record<string, (...args: never[]) => RecordKey>;

/** Roots that belong to one store and its processes: a backup leaves them out. */
export const UNPORTABLE_ROOTS: ReadonlySet<string | number> = new Set([
  "schema",
  "generation",
  "restoring",
  "leases",
  "processes",
  "sessions",
  "signing_secret",
  "tool_tokens",
  "vectors",
  "parts",
  "part_owners",
]);

/** How many bytes a key takes in the store. */
export function keyBytes(key: RecordKey): number {
  let bytes = 0;
  for (const part of key) {
    bytes += typeof part === "number" ? 9 : 2 + new TextEncoder().encode(part).length;
  }
  return bytes;
}
