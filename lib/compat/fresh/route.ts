import type { Context } from "./context.ts";
import { HttpError } from "./http_error.ts";
import { renderComponent, renderResponse, WRAPPING } from "./render.ts";
import type { HandlerFn, Method, Route } from "./types.ts";

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

  const result = await pickHandler(ctx.req.method, route, failure)(ctx);
  if (result instanceof Response) return result;
  const status = result.status ?? failure?.status ?? 200;
  const content = route.component === undefined
    ? null
    : await renderComponent(ctx, route.component, result.data, () => null);
  if (content instanceof Response) return content;
  return await renderResponse(ctx, content, { headers: new Headers(result.headers), status });
}

function pickHandler<State>(
  method: string,
  { handler, component }: Route<State>,
  failure: Failure | undefined,
): HandlerFn<unknown, State> {
  if (typeof handler === "function") return handler;
  const get = handler?.GET ?? (component === undefined ? undefined : () => ({ data: {} }));
  const isGet = method === "GET" || method === "HEAD";
  // An error page shows whatever the method was that failed.
  const found = handler?.[method as Method] ??
    (handler === undefined || isGet || failure !== undefined ? get : undefined);
  return found ?? (() => {
    throw failure?.thrown ?? new HttpError(404);
  });
}
