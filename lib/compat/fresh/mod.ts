export { App, type ListenOptions } from "./app.ts";
export type { Context, Context as FreshContext } from "./context.ts";
export { csp, type CSPOptions } from "./csp.ts";
export { createDefine, type Define } from "./define.ts";
export { HttpError } from "./http_error.ts";
export { staticFiles } from "./static_files.ts";
export { page } from "./types.ts";
export type {
  FreshConfig,
  HandlerByMethod,
  HandlerFn,
  LayoutConfig,
  Lazy,
  MaybeLazy,
  Method,
  Middleware,
  PageProps,
  PageResponse,
  ResolvedFreshConfig,
  RouteConfig,
  RouteHandler,
} from "./types.ts";
