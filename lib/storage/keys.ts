/** JSON can carry every key, so that a backup can too. */
export type RecordKey = readonly (string | number)[];

/** Every key of the store. What comes first in a key is its root, the family it belongs to. */
export const keys = {
  /** Says that the store is ours, and which version wrote it. */
  schema: () => ["schema"],
  /** A counter that every change other gateways must hear of adds to. */
  generation: () => ["generation"],
  /** A counter for each kind of news that other gateways' pages show. */
  news: (kind: string) => ["news", kind],
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

  /** What of each server's tools is served whatever the server says. */
  pins: () => ["pins"],
  pinsOf: (server: string) => ["pins", server],
  /** What people decided of a server's tools, and what waits for them. */
  reviews: () => ["reviews"],
  reviewsOf: (server: string) => ["reviews", server],
  /** What the scanner found in a server's tools, by fingerprint; a cache. */
  verdictsOf: (server: string) => ["verdicts", server],

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

  /** Who may come in, by the token's id; the token itself is nowhere. */
  accessTokens: () => ["access_tokens"],
  accessToken: (id: string) => ["access_tokens", id],
  /** Another one whenever a token is made: no two are made at once, each unaware of the other. */
  lastAccessToken: () => ["last_access_token"],
  projects: () => ["projects"],
  project: (name: string) => ["projects", name],
  consoleLogins: () => ["console_logins"],
  consoleLogin: (hash: string) => ["console_logins", hash],

  /** What the gateway signs with; made once for each store. */
  signingSecret: () => ["signing_secret"],

  /** Calls, some at a time, in the order of time. */
  activity: () => ["activity"],
  activityBatch: (time: number, id: string) => ["activity", time, id],
  /** What each process counted on each day. */
  activityDays: () => ["activity_days"],
  activityDay: (day: string, id: string) => ["activity_days", day, id],

  /** How far each process has come in the audit log; sorts before it, so that a backup has it first. */
  auditChains: () => ["audit_chains"],
  auditChain: (chain: string) => ["audit_chains", chain],
  /** What people decided, in the order of time; never changed. */
  auditLog: () => ["audit_log"],
  auditEntry: (time: number, id: string) => ["audit_log", time, id],

  /** Descriptions that might be better than a server's own. */
  allCandidates: () => ["candidates"],
  candidates: (server: string) => ["candidates", server],
  candidate: (server: string, id: string) => ["candidates", server, id],
  /** Prompts that descriptions are tried with, each of their versions an entry. */
  allGoldenPrompts: () => ["golden_prompts"],
  goldenPrompts: (server: string) => ["golden_prompts", server],
  goldenPrompt: (server: string, id: string, version: number) => [
    "golden_prompts",
    server,
    id,
    version,
  ],
  /** One prompt put to one description once; ids sort by time. */
  allEvalRuns: () => ["eval_runs"],
  evalRuns: (server: string, tool: string) => ["eval_runs", server, tool],
  evalRun: (server: string, tool: string, id: string) => ["eval_runs", server, tool, id],
  allEvaluations: () => ["evaluations"],
  evaluations: (server: string) => ["evaluations", server],
  evaluation: (server: string, tool: string, id: string) => ["evaluations", server, tool, id],
  /** The description in force for a tool, where it is not the server's own. */
  promotions: () => ["promotions"],
  promotion: (server: string, tool: string) => ["promotions", server, tool],
  promotionEvents: (server: string, tool: string) => ["promotion_events", server, tool],
  promotionEvent: (server: string, tool: string, id: string) => [
    "promotion_events",
    server,
    tool,
    id,
  ],
  optimizationJobs: () => ["optimization_jobs"],
  optimizationJob: (id: string) => ["optimization_jobs", id],

  settings: () => ["settings"],
  setting: (name: string) => ["settings", name],

  /** What texts mean to an embedding model, by the text's hash; a cache. */
  vectors: (model: string) => ["vectors", model],
  vector: (model: string, hash: string) => ["vectors", model, hash],

  /** What entries refer to by name; the values are sealed. */
  secrets: () => ["secrets"],
  secret: (name: string) => ["secrets", name],

  /** What servers gave us when somebody logged in to them; its secret part is sealed. */
  logins: () => ["logins"],
  login: (server: string) => ["logins", server],
  /** Who is renewing a login at the moment: a refresh token is good for one use. */
  loginClaim: (server: string) => ["login_claims", server],
  /** Logins that were begun, until their answer comes or they run out. */
  pendingLogins: () => ["pending_logins"],
  pendingLogin: (id: string) => ["pending_logins", id],

  /** Programs that somebody from elsewhere wants to have run, until their owner has decided. */
  consents: () => ["consents"],
  consent: (id: string) => ["consents", id],

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
  "news",
  "restoring",
  "leases",
  "processes",
  "sessions",
  "signing_secret",
  "console_logins",
  "tool_tokens",
  "verdicts",
  "vectors",
  "login_claims",
  "pending_logins",
  "consents",
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
