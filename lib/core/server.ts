import { z } from "zod";

/** A server's name; no dots, so that the first dot of `server.tool` always ends it. */
export const ServerName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, {
  error: "A server's name has 1 to 64 letters, digits, _ or -",
});
export type ServerName = z.infer<typeof ServerName>;

/** What becomes of a tool that its server has changed: held until approved, told, or passed on. */
export const ChangePolicy = z.enum(["hold", "notify", "allow"]);
export type ChangePolicy = z.infer<typeof ChangePolicy>;

/** Whether the owner vouches for a server. */
export const ServerTrust = z.enum(["trusted", "untrusted"]);
export type ServerTrust = z.infer<typeof ServerTrust>;

/** Which calls are let through: all, those that only read, or destructive ones after a yes. */
export const CallMode = z.enum(["all", "confirm", "read-only"]);
export type CallMode = z.infer<typeof CallMode>;

/** Names of a server's own tools, with `*` for any text; after `!`, what is kept out. */
const ToolPatterns = z.array(z.string().min(1).max(128)).max(200);

const common = {
  trust: ServerTrust.optional(),
  /** Unless told, `hold` for a server that is not trusted, else `notify`. */
  changes: ChangePolicy.optional(),
  /** Kept in the list, but not connected. */
  disabled: z.boolean().optional(),
  /** How long a call may take, in ms; progress starts the time anew. */
  timeoutMs: z.int().min(100).max(86_400_000).optional(),
  mode: CallMode.optional(),
  /** Tools that only read, and those that write, whatever their annotations claim. */
  readOnlyTools: ToolPatterns.optional(),
  writingTools: ToolPatterns.optional(),
  /** Calls begun within a minute, and calls under way at once, by everybody together. */
  callsPerMinute: z.int().min(1).max(1_000_000).optional(),
  maxConcurrent: z.int().min(1).max(10_000).optional(),
  /** A longer result is cut, and the rest is read page by page. */
  maxResultTokens: z.int().min(100).max(10_000_000).optional(),
};

export const StdioServer = z.strictObject({
  type: z.literal("stdio"),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
  /** Started at the first call, and stopped when it has been idle for a while. */
  lazy: z.boolean().optional(),
  ...common,
});

export const RemoteServer = z.strictObject({
  type: z.enum(["http", "sse"]),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).default({}),
  /** Of one that was added at run time: its owner has chosen an address in a private network. */
  allowPrivate: z.boolean().optional(),
  ...common,
});

/** The built-in demo server, which runs in this process. */
export const DemoServer = z.strictObject({ type: z.literal("demo"), ...common });

/** How to reach one server. */
export const ServerSpec = z.discriminatedUnion("type", [StdioServer, RemoteServer, DemoServer]);
export type ServerSpec = z.infer<typeof ServerSpec>;

/** What becomes of changes that a server makes to its tools. */
export function changePolicy(
  { trust, changes }: Pick<ServerSpec, "trust" | "changes">,
): ChangePolicy {
  return changes ?? (trust === "untrusted" ? "hold" : "notify");
}

/** Who owns a server's entry, and so where it can be changed. */
export type ServerSource = { kind: "file"; path: string } | { kind: "store" } | { kind: "demo" };

export type ServerState =
  | "connecting"
  | "ready"
  | "degraded"
  | "failed"
  | "disabled"
  | "needs_login";

/** One downstream server as the console, the API and the CLI show it. */
export interface ServerStatus {
  name: ServerName;
  type: ServerSpec["type"];
  source: ServerSource;
  state: ServerState;
  /** The state in words a person can act on. */
  reason: string;
  lastError?: string;
  /** When it is tried again, in ms since the epoch, where it is by itself. */
  retryAt?: number;
  /** When it entered this state, in ms since the epoch. */
  since: number;
  toolCount: number;
  latencyMs?: number;
}
