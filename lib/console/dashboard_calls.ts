import type { Gateway } from "../compose.ts";
import type { CallBucket, ServerTimes } from "../telemetry/call_stats.ts";

/** How far back the chart goes, and how fine it is. */
export const RANGES = {
  "1h": { label: "1 hour", last: "hour", count: 60, minutes: 1 },
  "6h": { label: "6 hours", last: "6 hours", count: 72, minutes: 5 },
  "24h": { label: "24 hours", last: "24 hours", count: 96, minutes: 15 },
} as const;
export type Range = keyof typeof RANGES;

export interface DashboardCalls {
  range: Range;
  /** Oldest first, one after the other. */
  points: CallBucket[];
  calls: number;
  errors: number;
  /** The most called servers of the last 24 hours. */
  servers: ServerTimes[];
  moreServers: number;
  /** Whether calls from before are still being read. */
  isLoading: boolean;
}

const MAX_SERVERS = 8;
/** A page that waits longer is worse than one that shows the rest a moment later. */
const PATIENCE_MS = 150;

/** What was called, how it went and how long it took. */
export async function dashboardCalls(
  gateway: Pick<Gateway, "callStats">,
  query: URLSearchParams,
): Promise<DashboardCalls> {
  const { stats, loaded } = gateway.callStats();
  const isLoading = await isSlow(loaded);
  const asked = query.get("range");
  const range = asked === "1h" || asked === "6h" ? asked : "24h";
  const { count, minutes } = RANGES[range];
  const points = stats.timeline(count, minutes);
  const servers = stats.servers();
  return {
    range,
    points,
    calls: points.reduce((sum, { calls }) => sum + calls, 0),
    errors: points.reduce((sum, { errors }) => sum + errors, 0),
    servers: servers.slice(0, MAX_SERVERS),
    moreServers: Math.max(0, servers.length - MAX_SERVERS),
    isLoading,
  };
}

async function isSlow(work: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), PATIENCE_MS);
  const isLate = await Promise.race([work.then(() => false), promise]);
  clearTimeout(timer);
  return isLate;
}
