import type { Context } from "fresh";
import { GatewayError } from "../core/errors.ts";
import { actingFor } from "../telemetry/audit_origin.ts";
import type { State } from "./define.ts";

/** Lets a request through to pages and API, or shows whoever sent it the way in. */
export async function admitToConsole(ctx: Context<State>): Promise<Response> {
  try {
    ctx.state.principal = await ctx.state.gateway.consoleGate.admit(ctx.req);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "TOKEN_REQUIRED" && isForPage(ctx.req)) {
      const { pathname, search } = ctx.url;
      const then = pathname === "/" ? "" : `?then=${encodeURIComponent(pathname + search)}`;
      return new Response(null, { status: 303, headers: { location: `/login${then}` } });
    }
    throw error;
  }
  const origin = { principal: ctx.state.principal, from: () => placeOf(ctx) };
  return await actingFor(origin, () => ctx.next());
}

/** Where a request comes from, for the audit log: "console, 127.0.0.1", "API, 10.0.0.7, curl/8.0". */
function placeOf({ req, info, url }: Pick<Context<State>, "req" | "info" | "url">): string {
  const peer = "hostname" in info.remoteAddr ? info.remoteAddr.hostname : "unknown address";
  // Anybody can write this; where a proxy is in between it is all there is.
  const forwarded = req.headers.get("x-forwarded-for") ?? req.headers.get("forwarded");
  const address = forwarded === null ? peer : `${peer} for ${forwarded.slice(0, 100)}`;
  // What a page of the console asks for is asked for by whoever looks at it.
  const isPage = !url.pathname.startsWith("/api/") ||
    req.headers.get("sec-fetch-site") === "same-origin";
  if (isPage) return `console, ${address}`;
  const [program] = req.headers.get("user-agent")?.split(" ") ?? [];
  return program ? `API, ${address}, ${program}` : `API, ${address}`;
}

/** Whether a person looks at the answer. */
function isForPage({ method, headers, url }: Request): boolean {
  return method === "GET" && !new URL(url).pathname.startsWith("/api/") &&
    (headers.get("accept") ?? "").includes("text/html") && !headers.has("authorization");
}
