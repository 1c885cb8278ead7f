import { z } from "zod";

/** A server's name; no dots, so that the first dot of `server.tool` always ends it. */
export const ServerName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, {
  error: "A server's name has 1 to 64 letters, digits, _ or -",
});
export type ServerName = z.infer<typeof ServerName>;

const common = {
  /** Kept in the list, but not connected. */
  disabled: z.boolean().optional(),
  /** How long a call may take, in ms; progress starts the time anew. */
  timeoutMs: z.int().min(100).max(86_400_000).optional(),
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
  ...common,
});

/** The built-in demo server, which runs in this process. */
export const DemoServer = z.strictObject({ type: z.literal("demo"), ...common });

/** How to reach one server. */
export const ServerSpec = z.discriminatedUnion("type", [StdioServer, RemoteServer, DemoServer]);
export type ServerSpec = z.infer<typeof ServerSpec>;

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
  /** When it entered this state, in ms since the epoch. */
  since: number;
  toolCount: number;
  latencyMs?: number;
}
