import type { ConsoleGate } from "./console_gate.ts";
import { METADATA_PATH, noMetadata, type ResourceMetadata } from "./resource_metadata.ts";

/** What /readyz says; no secrets, no paths. */
export interface Readiness {
  ready: boolean;
  /** One sentence for each thing that does not work as it should. */
  degraded: string[];
  store: { state: "ok" | "degraded"; reason?: string };
  servers: { total: number; ready: number; starting: number };
  version: string;
  uptimeSeconds: number;
}

/** What answers without a page, and so without loading the console. */
interface DirectHost {
  readiness(): Readiness;
  liveEvents(request: Request): Response;
  metrics: { render(): Promise<string> };
  /** Missing where no identity provider is configured. */
  resourceMetadata: ResourceMetadata | undefined;
  endpoints: {
    find(request: Request, info?: Deno.ServeHandlerInfo): (() => Promise<Response>) | undefined;
  };
  consoleGate: Pick<ConsoleGate, "admitReader" | "isReader" | "stream">;
}

type Answer = (
  host: DirectHost,
  request: Request,
  info?: Deno.ServeHandlerInfo,
) => Response | Promise<Response>;

const UNCACHED = { "cache-control": "no-store" };
const ANSWERS: Record<string, Answer> = {
  "/healthz": () => Response.json({ status: "ok" }, { headers: UNCACHED }),
  "/readyz": async (host, request, info) => {
    const readiness = host.readiness();
    // A platform's probe has no token, and needs none to know whether to send requests here.
    const shown = await host.consoleGate.isReader(request, info)
      ? readiness
      : withoutNames(readiness);
    return Response.json(shown, { status: readiness.ready ? 200 : 503, headers: UNCACHED });
  },
  "/metrics": async (host, request, info) => {
    await host.consoleGate.admitReader(request, info);
    return new Response(await host.metrics.render(), {
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    });
  },
  "/api/events": (host, request, info) =>
    host.consoleGate.stream(request, () => host.liveEvents(request), info),
};

function withoutNames(readiness: Readiness): Readiness {
  return { ...readiness, degraded: readiness.degraded.map(() => "Something needs attention") };
}

/** The answer to a request that needs no page, if this is one. */
export function findDirectAnswer(
  host: DirectHost,
  request: Request,
  info?: Deno.ServeHandlerInfo,
): (() => Response | Promise<Response>) | undefined {
  const endpoint = host.endpoints.find(request, info);
  if (endpoint) return endpoint;
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const { pathname } = new URL(request.url);
  if (pathname === METADATA_PATH || pathname.startsWith(`${METADATA_PATH}/`)) {
    return () => {
      if (!host.resourceMetadata) throw noMetadata();
      return host.resourceMetadata.answer(pathname);
    };
  }
  const answer = Object.hasOwn(ANSWERS, pathname) ? ANSWERS[pathname] : undefined;
  return answer && (() => answer(host, request, info));
}
