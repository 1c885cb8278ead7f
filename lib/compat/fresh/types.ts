import type { AnyComponent, ComponentChildren, RenderableProps } from "preact";
import type { Context } from "./context.ts";

export type Method = "HEAD" | "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | "OPTIONS";

export interface ResolvedFreshConfig {
  root: string;
  /** Everything is served below this path. */
  basePath: string;
  mode: "development" | "production";
  /** Believe X-Forwarded-Proto and X-Forwarded-Host; only behind a proxy that sets them. */
  trustProxy: boolean;
}
export type FreshConfig = Partial<Omit<ResolvedFreshConfig, "root">>;

export interface LayoutConfig {
  skipInheritedLayouts?: boolean;
  skipAppWrapper?: boolean;
}

export interface RouteConfig extends LayoutConfig {
  /** A URLPattern pathname in place of the one that the file's path gives. */
  routeOverride?: string;
  csp?: boolean;
  /** Which methods a lazily loaded route answers. */
  methods?: "ALL" | Method[];
}

export type Lazy<T> = () => Promise<T>;
export type MaybeLazy<T> = T | Lazy<T>;
export type Middleware<State> = (ctx: Context<State>) => Response | Promise<Response>;
/** A middleware, or a function that loads one. */
export type MaybeLazyMiddleware<State> = (
  ctx: Context<State>,
) => Response | Promise<Response | Middleware<State>>;

interface PageOptions {
  headers?: HeadersInit | undefined;
  status?: number | undefined;
}
export interface PageResponse<T> extends PageOptions {
  data: T;
}

export interface HandlerFn<Data, State> {
  (ctx: Context<State>): Response | PageResponse<Data> | Promise<Response | PageResponse<Data>>;
}
export type HandlerByMethod<Data, State> = { [M in Method]?: HandlerFn<Data, State> };
export type RouteHandler<Data, State> = HandlerFn<Data, State> | HandlerByMethod<Data, State>;

type SharedProps = "config" | "url" | "req" | "params" | "info" | "state" | "isPartial";
export type PageProps<Data = unknown, State = unknown> =
  & Pick<Context<State>, SharedProps | "Component" | "error" | "route">
  & { data: Data };

// The parameters are those of Preact's own components, or TypeScript would not infer them.
export type AsyncComponent<Props> = (
  props: RenderableProps<Props>,
  // deno-lint-ignore no-explicit-any
  context?: any,
) => Promise<ComponentChildren | Response>;
export type RouteComponent<State> =
  | AnyComponent<PageProps<unknown, State>>
  | AsyncComponent<PageProps<unknown, State>>;

export interface Route<State> {
  component?: RouteComponent<State> | undefined;
  config?: RouteConfig | undefined;
  handler?: RouteHandler<unknown, State> | undefined;
}

/** Returned from a handler: render the page's component with this data. */
export function page<T>(data: T, options?: PageOptions): PageResponse<T>;
export function page(): PageResponse<undefined>;
export function page(data?: unknown, options: PageOptions = {}): PageResponse<unknown> {
  return { data, ...options };
}
