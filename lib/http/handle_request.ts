import { type ErrorCode, GatewayError } from "../core/errors.ts";
import type { Logger } from "../telemetry/logs.ts";
import { type SpanStart, withSpan } from "../telemetry/tracing.ts";
import { BadRequest, type HttpRequest } from "./exchange.ts";
import type { Guard } from "./guard.ts";

/** What a request needs of the gateway before any route sees it. */
export interface RequestHost {
  guard: Guard;
  /** Tells a refused client how to authenticate. */
  access: { challenge(request: HttpRequest, error?: unknown): string };
  requestLog: Logger;
  countRequest(method: string, status: number, seconds: number): void;
  endpoints: { settle(): void };
}

/** Paths whose requests would only fill the log; calls at an endpoint are recorded elsewhere. */
const QUIET =
  /^\/(healthz|readyz|metrics|_frsh\/|_fresh\/)|\/mcp$|\.(css|js|map|svg|png|ico|woff2)$/;

/** Errors that another token would fix. */
const CHALLENGED: ReadonlySet<ErrorCode> = new Set(["TOKEN_REQUIRED", "INSUFFICIENT_SCOPE"]);

/** Errors of an MCP server that the request named, not of the gateway. */
const OF_A_SERVER: ReadonlySet<ErrorCode> = new Set([
  "SERVER_DISCONNECTED",
  "SERVER_NOT_RUNNING",
  "SERVER_STARTING",
  "LOGIN_FAILED",
  "TIMEOUT",
]);

export function httpSpan({ method, url }: Pick<HttpRequest, "method" | "url">): SpanStart {
  const path = URL.parse(url)?.pathname ?? "/";
  return {
    name: method,
    kind: "server",
    attributes: { "http.request.method": method, "url.path": path },
  };
}

/** Gives every request its checks, span, log line and headers. */
export async function handleRequest(
  host: RequestHost,
  req: HttpRequest,
  requestId: string,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  const started = performance.now();
  // Without a valid Host there is no URL either; the guard reports it.
  const { pathname, protocol } = URL.parse(req.url) ?? { pathname: "/", protocol: "http:" };
  let reason: string | undefined;
  const response = await withSpan(
    httpSpan(req),
    async (span) => {
      try {
        host.guard.check(req);
        // So that the log and the counts include the call that was just answered.
        host.endpoints.settle();
        const response = await answer();
        span?.setAttribute("http.response.status_code", response.status);
        return response;
      } catch (error) {
        if (error instanceof GatewayError && OF_A_SERVER.has(error.code)) reason = error.message;
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
  const level = response.status >= 500
    ? reason === undefined ? "error" : "warn"
    : QUIET.test(pathname)
    ? "debug"
    : "info";
  host.requestLog[level]({
    requestId,
    correlationId: correlationId(req) ?? requestId,
    method: req.method,
    path: pathname,
    status: response.status,
    duration: Math.round(duration * 100) / 100,
    userAgent: req.headers.get("user-agent"),
    ...(reason === undefined ? {} : { error: reason }),
  }, "Request");
  response.headers.set("x-request-id", requestId);
  if (response.status === 401 && !response.headers.has("www-authenticate")) {
    response.headers.set("www-authenticate", host.access.challenge(req));
  }
  return secureHeaders(response, protocol === "https:");
}

function explain(error: unknown, req: HttpRequest, requestId: string, log: Logger): Response {
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 404 || status === 405) {
    return errorResponse(
      new GatewayError("NOT_FOUND", {
        message: `Not found, or ${req.method} is not supported here`,
      }),
      requestId,
    );
  }
  if (error instanceof BadRequest) {
    return errorResponse(new GatewayError("INVALID_PARAMS", { message: error.message }), requestId);
  }
  if (!(error instanceof GatewayError)) {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error({ requestId, err: error, stack }, "Request failed");
  }
  return errorResponse(error, requestId);
}

/** The caller's own id for a chain of requests, if it is fit to be logged. */
export function correlationId(req: HttpRequest): string | undefined {
  const given = req.headers.get("x-correlation-id") ?? req.headers.get("traceparent");
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : undefined;
}

/** An error as JSON, the same at every endpoint and API. */
export function errorResponse(error: unknown, requestId: string): Response {
  const known = GatewayError.from(error);
  const { retryAfterSeconds } = known.details;
  return Response.json({ error: known.toBody(), requestId }, {
    status: known.httpStatus,
    ...(retryAfterSeconds === undefined ? {} : {
      headers: { "retry-after": String(retryAfterSeconds) },
    }),
  });
}

/** Each directive names the attack it blocks; lib/http adds the nonce for what the app renders. */
export const CSP_DIRECTIVES: string[] = [
  "default-src 'self'", // anything not named below comes from this gateway or not at all
  "script-src 'self' 'unsafe-inline'", // replaced by a nonce: injected scripts never run
  "style-src 'self' 'unsafe-inline'", // replaced by a nonce: injected styles cannot exfiltrate
  "img-src 'self' data:", // no tracking pixels from tool texts
  "connect-src 'self'", // injected code cannot phone home
  "object-src 'none'", // no plugins
  "base-uri 'none'", // relative links cannot be redirected
  "form-action 'self'", // forms cannot be pointed elsewhere
  "frame-ancestors 'none'", // no clickjacking
];

const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

/** Headers of every response, from pages and endpoints alike. */
export function secureHeaders(response: Response, isHttps: boolean): Response {
  const { headers } = response;
  headers.set("x-content-type-options", "nosniff");
  // Not no-referrer: browsers then send `Origin: null` with our own forms, which the guard refuses.
  headers.set("referrer-policy", "same-origin");
  headers.set("cross-origin-opener-policy", "same-origin");
  headers.set("cross-origin-resource-policy", "same-origin");
  headers.set("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
  const policy = headers.get("content-security-policy");
  const isPage = headers.get("content-type")?.startsWith("text/html") ?? false;
  if (!isPage || policy === null) {
    headers.set("content-security-policy", NO_PAGE);
  } else if (!isHttps) {
    // On plain HTTP beyond loopback it would break every asset of the console.
    headers.set("content-security-policy", policy.replace(/;\s*upgrade-insecure-requests/, ""));
  }
  return response;
}
