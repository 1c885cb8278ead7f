import type { Context } from "fresh";
import { GatewayError } from "../core/errors.ts";
import { addressOf } from "../http/request_origin.ts";
import { readForm } from "../http/request_body.ts";
import { actingFor, type AuditOrigin } from "../telemetry/audit_log.ts";
import type { State } from "./define.ts";
import { isCurrentPage, PAGES, pathParts } from "./ui/pages.ts";

/** Lets a request through to pages and API, or shows whoever sent it the way in. */
export async function admitToConsole(ctx: Context<State>): Promise<Response> {
  try {
    ctx.state.principal = await ctx.state.gateway.consoleGate.admit(
      ctx.req,
      (principal, error) => noteDeniedCall(ctx, principal, error),
    );
  } catch (error) {
    if (!(error instanceof GatewayError) || !isForPage(ctx.req)) throw error;
    if (error.code === "TOKEN_REQUIRED") {
      // A form cannot be sent again for its writer: what it stood on can be shown.
      const referer = URL.parse(ctx.req.headers.get("referer") ?? "");
      const { pathname, search } = ctx.req.method === "GET"
        ? ctx.url
        : referer ?? new URL(ctx.url.origin);
      const then = pathname === "/" ? "" : `?then=${encodeURIComponent(pathname + search)}`;
      return new Response(null, { status: 303, headers: { location: `/login${then}` } });
    }
    if (error.code !== "ACCESS_DENIED" || !isConsolePath(ctx.url.pathname)) throw error;
    const reader = await findReader(ctx);
    if (reader === undefined) throw error;
    ctx.state.principal = reader;
    ctx.state.refused = error;
    return await ctx.next();
  }
  return await actingFor(originOf(ctx, ctx.state.principal), () => ctx.next());
}

/** The audit log has whom no call was allowed; what they are answered says nothing of the tool. */
async function noteDeniedCall(
  ctx: Context<State>,
  principal: string,
  error: unknown,
): Promise<void> {
  const { toolCalls, options } = ctx.state.gateway;
  const called = await findCalled(ctx.req, options.options.maxBody);
  if (!called) return;
  actingFor(
    originOf(ctx, principal),
    () => toolCalls.refused({ ...called, principal }, error),
  );
}

/** The tool that a request would call: by the API, or with the form on the tool's page. */
async function findCalled(
  req: Request,
  maxBody: number,
): Promise<{ server: string; tool: string } | undefined> {
  const parts = pathParts(new URL(req.url).pathname) ?? [];
  const isApi = parts[0] === "api";
  const [page, server = "", tool = "", ...rest] = isApi ? parts.slice(1) : parts;
  if (req.method !== "POST" || page !== "tools") return undefined;
  if (isApi) return rest.join("/") === "call" ? { server, tool } : undefined;
  if (rest.length > 0) return undefined;
  const form = await readForm(req, maxBody).catch(() => undefined);
  return form?.has("try") ? { server, tool } : undefined;
}

function originOf(ctx: Context<State>, principal: string): AuditOrigin {
  return { principal, from: () => placeOf(ctx) };
}

/** Where a request comes from, for the audit log: "console, 127.0.0.1", "API, 10.0.0.7, curl/8.0". */
export function placeOf({ req, info, url }: Pick<Context<State>, "req" | "info" | "url">): string {
  const address = addressOf(req, info);
  // What a page of the console asks for is asked for by whoever looks at it.
  const isPage = !url.pathname.startsWith("/api/") ||
    req.headers.get("sec-fetch-site") === "same-origin";
  if (isPage) return `console, ${address}`;
  const [program] = req.headers.get("user-agent")?.split(" ") ?? [];
  return program ? `API, ${address}, ${program}` : `API, ${address}`;
}

/** Whose page it is, where they may look at the console at all: its frame tells of everything. */
async function findReader({ state, url, req }: Context<State>): Promise<string | undefined> {
  const home = new Request(new URL("/", url), { headers: req.headers });
  return await state.gateway.consoleGate.admit(home).catch(() => undefined);
}

/** Whether a path is answered by routes that look at `refused` first, and by none else. */
export function isConsolePath(pathname: string): boolean {
  return pathname === "/actions" || PAGES.some((page) => isCurrentPage(page, pathname));
}

/** Whether a person looks at the answer. */
function isForPage({ headers, url }: Request): boolean {
  return !new URL(url).pathname.startsWith("/api/") &&
    (headers.get("accept") ?? "").includes("text/html") && !headers.has("authorization");
}
