export { App, type ListenOptions } from "./app.ts";
export type { Island } from "./build.ts";
export type { Context, Context as FreshContext } from "./context.ts";
export { csp, type CSPOptions } from "./csp.ts";
export { csrf, type CsrfOptions } from "./csrf.ts";
export { createDefine, type Define } from "./define.ts";
export { HttpError } from "./http_error.ts";
export { staticFiles } from "./static_files.ts";
export {
  type FreshConfig,
  type HandlerByMethod,
  type HandlerFn,
  type LayoutConfig,
  type Lazy,
  type MaybeLazy,
  type Method,
  type Middleware,
  type MiddlewareFn,
  page,
  type PageProps,
  type PageResponse,
  type ResolvedFreshConfig,
  type RouteConfig,
  type RouteData,
  type RouteHandler,
} from "./types.ts";
