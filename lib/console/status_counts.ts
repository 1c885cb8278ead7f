import type { Problem } from "../config/problem.ts";
import type { ServerState, ServerStatus } from "../core/server.ts";
import type { StatusCounts } from "./ui/live.ts";

const NEEDS_ATTENTION: ReadonlySet<ServerState> = new Set(["failed", "degraded", "needs_login"]);

export function needsAttention(server: ServerStatus): boolean {
  return NEEDS_ATTENTION.has(server.state);
}

/** The numbers in the rail and the header, as the live channel sends them. */
export function countStatus(
  servers: readonly ServerStatus[],
  problems: readonly Problem[],
): StatusCounts {
  const counts = { servers: servers.length, ready: 0, tools: 0, attention: 0 };
  for (const server of servers) {
    if (server.state === "ready") counts.ready++;
    if (needsAttention(server)) counts.attention++;
    counts.tools += server.toolCount;
  }
  // A problem of one server shows in that server's state already.
  counts.attention +=
    problems.filter(({ severity, server }) => severity === "error" && !server).length;
  return counts;
}
