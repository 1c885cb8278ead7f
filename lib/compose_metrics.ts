import type { ServerStatus } from "./core/server.ts";
import { Metrics } from "./telemetry/metrics.ts";

export interface ComposeMetricsInput {
  startedAt: number;
  servers(): ServerStatus[];
  liveClients(): number;
}

/** What the gateway tells of itself at /metrics, but for what its doors count. */
export function composeMetrics({ startedAt, servers, liveClients }: ComposeMetricsInput) {
  const metrics = new Metrics();
  const count = metrics.counter("quartermaster_http_requests_total", "HTTP requests");
  const time = metrics.durations("quartermaster_http_request_seconds", "HTTP durations");
  const uptimeSeconds = () => Math.round((Date.now() - startedAt) / 1000);
  metrics.gauge("quartermaster_uptime_seconds", "Time since the start", uptimeSeconds);
  metrics.gauge("quartermaster_live_clients", "Open live channels", liveClients);
  metrics.gauge("quartermaster_memory_bytes", "Resident memory", () => Deno.memoryUsage().rss);
  metrics.gauge("quartermaster_servers", "Downstream servers by state", () => {
    const counts = Map.groupBy(servers(), ({ state }) => state);
    return [...counts].map(([state, list]) => [{ state }, list.length]);
  });
  metrics.gauge(
    "quartermaster_tools",
    "Tools of all servers",
    () => servers().reduce((sum, { toolCount }) => sum + toolCount, 0),
  );
  return {
    metrics,
    uptimeSeconds,
    countRequest(method: string, status: number, seconds: number): void {
      count({ method, status: String(status) });
      time(seconds);
    },
  };
}
