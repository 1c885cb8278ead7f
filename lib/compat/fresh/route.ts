import type { Context } from "./context.ts";
import { WRAPPING } from "./context_slots.ts";
import { HttpError } from "./http_error.ts";
import { renderComponent, renderResponse } from "./render.ts";
import type { HandlerFn, Method, PageResponse, Route } from "./types.ts";

interface Failure {
  status: number;
  thrown: unknown;
}

/** Runs a route's handler and renders its component with what the handler returned. */
export async function renderRoute<State>(
  ctx: Context<State>,
  route: Route<State>,
  failure?: Failure,
): Promise<Response> {
  const { skipAppWrapper, skipInheritedLayouts } = route.config ?? {};
  const { app, layouts } = ctx[WRAPPING];
  ctx[WRAPPING] = {
    app: skipAppWrapper ? null : app,
    layouts: skipInheritedLayouts ? [] : layouts,
  };

  const result = await pickHandler(ctx.req.method.toUpperCase(), route, failure)(ctx);
  if (result instanceof Response) return result;

  const headers = new Headers(result.headers);
  const status = result.status ?? failure?.status ?? 200;
  if (route.component === undefined) return await ctx.render(null, { headers, status });

  const content = await renderComponent(ctx, route.component, result.data, () => null);
  if (content instanceof Response) return content;
  return await renderResponse(ctx, content, { headers, status }, {});
}

function pickHandler<State>(
  method: string,
  route: Route<State>,
  failure: Failure | undefined,
): HandlerFn<unknown, State> {
  const { handler, component } = route;
  if (typeof handler === "function") return handler;
  const exact = handler?.[method as Method];
  if (exact !== undefined) return exact;
  const get = handler?.GET ?? (component === undefined ? undefined : renderOnly);
  if (get !== undefined && (handler === undefined || method === "HEAD" || method === "GET")) {
    return get;
  }
  // An error page shows whatever the method was that failed.
  if (failure !== undefined) return get ?? rethrow(failure.thrown);
  return rethrow(new HttpError(handler === undefined ? 404 : 405));
}

function renderOnly(): PageResponse<unknown> {
  return { data: {} };
}

function rethrow(error: unknown): () => never {
  return () => {
    throw error;
  };
}
