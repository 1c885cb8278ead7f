import type { Context } from "fresh";
import { GatewayError } from "../core/errors.ts";
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
  return await ctx.next();
}

/** Whether a person looks at the answer. */
function isForPage({ method, headers, url }: Request): boolean {
  return method === "GET" && !new URL(url).pathname.startsWith("/api/") &&
    (headers.get("accept") ?? "").includes("text/html") && !headers.has("authorization");
}
