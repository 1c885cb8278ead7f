/** What /readyz says; no secrets, no paths. */
export interface Readiness {
  ready: boolean;
  /** One sentence for each thing that does not work as it should. */
  degraded: string[];
  store: { state: "ok" | "degraded"; reason?: string };
  servers: { total: number; ready: number };
  version: string;
  uptimeSeconds: number;
}

export function readinessResponse(readiness: Readiness): Response {
  return Response.json(readiness, {
    status: readiness.ready ? 200 : 503,
    headers: { "cache-control": "no-store" },
  });
}
