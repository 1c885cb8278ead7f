import { type ErrorCode, GatewayError } from "../core/errors.ts";
import type { Logger } from "../telemetry/logs.ts";
import { withSpan } from "../telemetry/spans.ts";
import { errorResponse } from "./error_response.ts";
import type { Guard } from "./guard.ts";
import { secureHeaders } from "./security_headers.ts";

/** What a request needs of the gateway before any route sees it. */
export interface RequestHost {
  guard: Guard;
  /** Tells whoever is not let in how to come in. */
  access: { challenge(request: Request, error?: unknown): string };
  requestLog: Logger;
  countRequest(method: string, status: number, seconds: number): void;
  doors: { settle(): void };
}

/** Paths whose requests would only fill the log; a door's calls are counted and kept elsewhere. */
const QUIET =
  /^\/(healthz|readyz|metrics|_frsh\/|_fresh\/)|\/mcp$|\.(css|js|map|svg|png|ico|woff2)$/;

/** What another token would mend. */
const CHALLENGED: ReadonlySet<ErrorCode> = new Set(["TOKEN_REQUIRED", "INSUFFICIENT_SCOPE"]);

/** Gives a request its checks, span, log line and headers, whoever answers it. */
export async function inRequestScope(
  host: RequestHost,
  req: Request,
  requestId: string,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  const started = performance.now();
  // With a Host that is none there is no address either; the guard says so.
  const { pathname, protocol } = URL.parse(req.url) ?? { pathname: "/", protocol: "http:" };
  const response = await withSpan(
    "request",
    { "http.request.method": req.method, "url.path": pathname },
    async (span) => {
      try {
        host.guard.check(req);
        // Whoever looks at the log or the counts finds the call in them that was just answered.
        host.doors.settle();
        const response = await answer();
        span?.setAttribute("http.response.status_code", response.status);
        return response;
      } catch (error) {
        const response = explain(error, req, requestId, host.requestLog);
        if (error instanceof GatewayError && CHALLENGED.has(error.code)) {
          response.headers.set("www-authenticate", host.access.challenge(req, error));
        }
        return response;
      }
    },
  );
  const duration = performance.now() - started;
  host.countRequest(req.method, response.status, duration / 1000);
  const level = response.status >= 500 ? "error" : QUIET.test(pathname) ? "debug" : "info";
  host.requestLog[level]({
    requestId,
    correlationId: correlationId(req) ?? requestId,
    method: req.method,
    path: pathname,
    status: response.status,
    duration: Math.round(duration * 100) / 100,
    userAgent: req.headers.get("user-agent"),
  }, "Request");
  response.headers.set("x-request-id", requestId);
  if (response.status === 401 && !response.headers.has("www-authenticate")) {
    response.headers.set("www-authenticate", host.access.challenge(req));
  }
  return secureHeaders(response, protocol === "https:");
}

function explain(error: unknown, req: Request, requestId: string, log: Logger): Response {
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 404 || status === 405) {
    return errorResponse(
      new GatewayError("NOT_FOUND", { message: `Nothing answers ${req.method} here` }),
      requestId,
    );
  }
  if (!(error instanceof GatewayError)) {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error({ requestId, err: error, stack }, "Request failed");
  }
  return errorResponse(error, requestId);
}

/** The caller's own id for a chain of requests, if it is fit to be logged. */
export function correlationId(req: Request): string | undefined {
  const given = req.headers.get("x-correlation-id") ?? req.headers.get("traceparent");
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : undefined;
}
