import type { Context } from "fresh";
import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { addressOf } from "../http/request_origin.ts";
import { readForm } from "../http/request_body.ts";
import { actingFor, type AuditOrigin } from "../telemetry/audit_log.ts";
import type { State } from "./define.ts";
import { pathParts } from "./ui/pages.ts";

/** Added by Fresh to the address of a page that is to be shown in place. */
const PARTIAL = "fresh-partial";

/** Identifies the caller; sends a person without a login to the login page. */
export async function admitToConsole(ctx: Context<State>): Promise<Response> {
  const { state, req, url, info } = ctx;
  try {
    state.principal = await state.host.consoleGate.identify(req, info);
  } catch (error) {
    const isLogin = error instanceof GatewayError && error.code === "TOKEN_REQUIRED";
    if (!isLogin || !isForPage(req)) throw error;
    // A form cannot be sent again for its writer, but the page it was on can be shown.
    const referer = URL.parse(req.headers.get("referer") ?? "");
    const { pathname, search } = req.method === "GET"
      ? asPage(url)
      : referer ?? new URL(url.origin);
    const then = pathname === "/" ? "" : `?then=${encodeURIComponent(pathname + search)}`;
    return new Response(null, { status: 303, headers: { location: `/login${then}` } });
  }
  const response = await actingFor(originOf(ctx), () => ctx.next());
  if (state.refused !== undefined) throw state.refused;
  return response;
}

/**
 * Refuses a caller without the rights of a route; undefined for all others. A person who may look at
 * the console gets the error page with the console around it, everybody else only the error.
 */
export async function refuseCaller(
  ctx: Context<State>,
  rights: readonly Right[],
): Promise<Response | undefined> {
  const { state, req } = ctx;
  const { consoleGate } = state.host;
  try {
    consoleGate.demand(req, state.principal, rights);
  } catch (error) {
    await noteDeniedCall(ctx, error);
    if (!(error instanceof GatewayError)) throw error;
    const isShown = error.code === "ACCESS_DENIED" && isForPage(req);
    if (isShown && consoleGate.mayLook(req, state.principal)) throw error;
    state.refused = error;
    return new Response(null, { status: error.httpStatus });
  }
}

/** The audit log names a tool that a caller had no right to call; the response does not. */
async function noteDeniedCall(ctx: Context<State>, error: unknown): Promise<void> {
  const { host: { toolCalls, options }, principal } = ctx.state;
  const called = await findCalled(ctx.req, options.options.maxBody);
  if (!called) return;
  actingFor(originOf(ctx), () => toolCalls.refused({ ...called, principal }, error));
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

function originOf(ctx: Context<State>): AuditOrigin {
  return { principal: ctx.state.principal, from: () => placeOf(ctx) };
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

/** Whether a person looks at the answer: the browser asks for a page, or Fresh for what changes on one. */
function isForPage({ headers, url }: Request): boolean {
  const { pathname, searchParams } = new URL(url);
  const isWanted = (headers.get("accept") ?? "").includes("text/html") || searchParams.has(PARTIAL);
  return !pathname.startsWith("/api/") && isWanted && !headers.has("authorization");
}

/** The address of a page that Fresh asks for in place. A deletion would respell the query of any other. */
function asPage(url: URL): URL {
  const page = new URL(url);
  if (page.searchParams.has(PARTIAL)) page.searchParams.delete(PARTIAL);
  return page;
}
