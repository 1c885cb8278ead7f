import type { AnyComponent } from "preact";
import type { HandlerByMethod, HandlerFn, Middleware, PageProps, RouteHandler } from "./types.ts";

/** Identity functions that give handlers, pages, layouts and middlewares their types. */
export interface Define<State> {
  handlers<Data, Handlers extends RouteHandler<Data, State> = RouteHandler<Data, State>>(
    handlers: Handlers,
  ): typeof handlers;
  page<
    // deno-lint-ignore no-explicit-any -- `unknown` would refuse handlers of a concrete data type
    Handler extends RouteHandler<any, State> = never,
    Data = Handler extends HandlerFn<infer D, State> ? D
      : Handler extends HandlerByMethod<infer D, State> ? D
      : never,
  >(render: AnyComponent<PageProps<Data, State>>): typeof render;
  layout(render: AnyComponent<PageProps<unknown, State>>): typeof render;
  middleware<M extends Middleware<State> | Middleware<State>[]>(middleware: M): typeof middleware;
}

export function createDefine<State>(): Define<State> {
  return {
    handlers: (handlers) => handlers,
    page: (render) => render,
    layout: (render) => render,
    middleware: (middleware) => middleware,
  };
}
