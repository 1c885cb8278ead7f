import {
  createDefine,
  type HandlerByMethod,
  type HandlerFn,
  type Method,
  type RouteHandler,
} from "fresh";
import type { Gateway } from "../gateway.ts";
import type { GatewayError } from "../core/errors.ts";
import type { Right } from "../core/access.ts";
import { readForm } from "../http/request_body.ts";
import { refuseCaller } from "./admit.ts";

/** What every request carries through the app. */
export interface State {
  /** For what stands around the routes: middlewares, layouts and the error page. */
  host: Gateway;
  /** For routes; missing until the rights that a route declares were checked, so that a route that declares none can do nothing. */
  gateway: Gateway;
  /** Also in the log line of the request and on error pages. */
  requestId: string;
  /** Who the request is made for. */
  principal: string;
  /** The refusal that a program gets as JSON, in place of the route's response. */
  refused?: GatewayError;
  /** The browser tab's title, without the product's name. */
  title?: string;
  /** The live channel's last event before anything on the page was read. */
  madeAt?: string;
}

/**
 * The rights that a route needs for each method, all of them for the whole gateway. `anyone`: the
 * route needs none, or runs operations only, which check their own.
 */
type Needs = "anyone" | { readonly [method in Method]?: readonly Right[] };

const fresh = createDefine<State>();

export const define = {
  ...fresh,
  /** A route's handlers; they run for callers with the rights declared here, and for nobody else. */
  handlers<Data, Handlers extends RouteHandler<Data, State> = RouteHandler<Data, State>>(
    needs: Needs,
    handlers: Handlers,
  ): Handlers {
    const declared = typeof handlers === "function"
      ? guarded(needs, undefined, handlers)
      : Object.fromEntries(
        Object.entries(handlers as HandlerByMethod<Data, State>)
          .map(([method, handle]) => [method, guarded(needs, method as Method, handle)]),
      );
    return declared as RouteHandler<Data, State> as Handlers;
  },
};

function guarded<Data>(
  needs: Needs,
  method: Method | undefined,
  handle: HandlerFn<Data, State>,
): HandlerFn<Data, State> & { rights: "anyone" | readonly Right[] } {
  const rights = needs === "anyone" ? needs : method && needs[method];
  if (rights === undefined || rights.length === 0) {
    throw new TypeError(`The handler of ${method ?? "all methods"} declares no rights`);
  }
  const handler: HandlerFn<Data, State> = async (ctx) => {
    const refusal = rights === "anyone" ? undefined : await refuseCaller(ctx, rights);
    if (refusal !== undefined) return refusal;
    ctx.state.gateway = ctx.state.host;
    return await handle(ctx);
  };
  return Object.assign(handler, { rights });
}

/** The fields of the form that a request sends. */
export function formOf({ req, state }: { req: Request; state: State }): Promise<URLSearchParams> {
  return readForm(req, state.gateway.options.options.maxBody);
}
