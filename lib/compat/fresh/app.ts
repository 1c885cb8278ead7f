import { buildOf } from "./build.ts";
import { Context } from "./context.ts";
import { fileSteps } from "./file_routes.ts";
import { HttpError } from "./http_error.ts";
import { log } from "./log.ts";
import { joinPath } from "./router.ts";
import { compile, METHODS, type Step } from "./steps.ts";
import type {
  FreshConfig,
  LayoutConfig,
  MaybeLazy,
  MaybeLazyMiddleware,
  Method,
  Middleware,
  ResolvedFreshConfig,
  Route,
  RouteComponent,
  RouteConfig,
} from "./types.ts";

export type ListenOptions = Partial<Deno.ServeTcpOptions & Deno.TlsCertifiedKeyPem>;
export type Handler = (request: Request, info?: Deno.ServeHandlerInfo) => Promise<Response>;

type Verb<State, This> = (path: string, ...fns: MaybeLazy<Middleware<State>>[]) => This;

const NO_CONNECTION: Deno.ServeHandlerInfo<Deno.NetAddr> = {
  remoteAddr: { transport: "tcp", hostname: "localhost", port: 1234 },
  completed: Promise.resolve(),
};

/** Middlewares, routes, layouts and error pages, applied from top to bottom. */
export class App<State> {
  config: ResolvedFreshConfig;
  #steps: Step<State>[] = [];

  constructor(config: FreshConfig = {}) {
    const defaults = { root: ".", basePath: "", mode: "production", trustProxy: false } as const;
    this.config = { ...defaults, ...config };
  }

  use(...middleware: MaybeLazyMiddleware<State>[]): this;
  use(path: string, ...middleware: MaybeLazyMiddleware<State>[]): this;
  use(first: string | MaybeLazyMiddleware<State>, ...fns: MaybeLazyMiddleware<State>[]): this {
    if (typeof first === "string") return this.#add({ kind: "use", path: first, fns });
    return this.#add({ kind: "use", path: "*", fns: [first, ...fns] });
  }

  readonly get: Verb<State, this> = this.#on("GET");
  readonly post: Verb<State, this> = this.#on("POST");
  readonly put: Verb<State, this> = this.#on("PUT");
  readonly patch: Verb<State, this> = this.#on("PATCH");
  readonly delete: Verb<State, this> = this.#on("DELETE");
  readonly head: Verb<State, this> = this.#on("HEAD");
  readonly all: Verb<State, this> = this.#on(...METHODS);

  route(path: string, route: MaybeLazy<Route<State>>, config?: RouteConfig): this {
    const { routeOverride } = (typeof route === "function" ? config : route.config) ?? {};
    const methods = Array.isArray(config?.methods) ? { methods: config.methods } : {};
    const pattern = routeOverride ?? path;
    return this.#add({ kind: "route", path, pattern, route, ...methods });
  }

  layout(path: string, component: RouteComponent<State>, config: LayoutConfig = {}): this {
    return this.#add({ kind: "layout", path, component, config });
  }

  appWrapper(component: RouteComponent<State>): this {
    return this.#add({ kind: "app", component });
  }

  notFound(given: Route<State> | Middleware<State>): this {
    return this.#add({ kind: "notFound", route: asRoute(given) });
  }

  onError(path: string, given: Route<State> | Middleware<State>): this {
    return this.#add({ kind: "error", path, route: asRoute(given) });
  }

  /** Inserts the routes/ folder here. Which files it has is known when the handler is made. */
  fsRoutes(pattern = "*"): this {
    return this.#add({ kind: "files", path: pattern });
  }

  /** Adds all steps of another app below a path. */
  mountApp(path: string, app: App<State>): this {
    const { basePath } = app.config;
    for (const step of app.#steps) {
      if (!("path" in step)) {
        this.#add(step);
        continue;
      }
      // For a middleware `*` means the whole mounted app; for a route, all paths below.
      const isRoute = step.kind === "route" || step.kind === "method";
      const at = (inner: string) =>
        joinPath(path, basePath === "" ? inner : joinPath(basePath, inner, !isRoute), true);
      const moved = { ...step, path: at(step.path) };
      if (moved.kind === "route") moved.pattern = at(moved.pattern);
      this.#add(moved);
    }
    return this;
  }

  handler(): Handler {
    const { config } = this;
    const build = buildOf(this);
    const files = () => fileSteps<State>(build.routes);
    const { router, fallback } = compile(this.#steps, config.basePath, files);

    return async (req, info = NO_CONNECTION) => {
      const url = requestUrl(req, config.trustProxy);
      const method = req.method as Method;
      let match;
      try {
        match = router.match(method, url);
      } catch (error) {
        // As on the real package: a path that cannot be decoded reaches no middleware.
        return unhandled(error);
      }
      const { pattern, params, item, allowed } = match;
      const next = () => {
        if (pattern === null || item !== undefined) throw new HttpError(404);
        if (method !== "OPTIONS") throw new HttpError(405);
        const headers = { Allow: allowed.join(", ") };
        return Promise.resolve(new Response(null, { status: 204, headers }));
      };
      const ctx = new Context<State>(
        { req, url, info, route: pattern, params, config, next },
        build,
      );
      try {
        const response = await (item ?? fallback)(ctx);
        if (!(response instanceof Response)) {
          throw new TypeError(`${method} ${url.pathname}: a handler returned no Response`);
        }
        if (method !== "HEAD" || response.body === null) return response;
        await response.body.cancel();
        return new Response(null, response);
      } catch (error) {
        return unhandled(error);
      }
    };
  }

  /** Resolves once the port is open, as on the real package. */
  listen(options: ListenOptions = {}): Promise<void> {
    return Promise.try(() => serve(this.handler(), options, this.config.basePath));
  }

  #add(step: Step<State>): this {
    this.#steps.push(step);
    return this;
  }

  #on(...methods: Method[]): Verb<State, this> {
    return (path, ...given) => {
      const fns = given as MaybeLazyMiddleware<State>[];
      return this.#add({ kind: "method", methods, path, fns });
    };
  }
}

/** Opens the port and returns; the options' signal closes it. */
export function serve(handler: Handler, options: ListenOptions, basePath: string): void {
  const onListen = ({ hostname, port }: Deno.NetAddr) =>
    log(`Listening on http://${hostname}:${port}${basePath}/`);
  Deno.serve({ onListen, ...options }, handler);
}

function asRoute<State>(given: Route<State> | Middleware<State>): Route<State> {
  return typeof given === "function" ? { handler: given } : given;
}

function requestUrl(req: Request, trustProxy: boolean): URL {
  const url = new URL(req.url);
  if (url.pathname.includes("//")) url.pathname = url.pathname.replace(/\/{2,}/g, "/");
  if (trustProxy) {
    const { protocol, host } = url;
    url.protocol = req.headers.get("x-forwarded-proto") ?? protocol;
    url.host = req.headers.get("x-forwarded-host") ?? host;
  }
  return url;
}

/** No error page took it: the client learns the status, the log learns the rest. */
function unhandled(error: unknown): Response {
  const { status, message } = error instanceof HttpError ? error : { status: 500, message: "" };
  if (status >= 500) log(error instanceof Error ? error.stack ?? error.message : String(error));
  const titles: Record<number, string> = { 404: "Not Found", 405: "Method Not Allowed" };
  const title = titles[status] ?? (status >= 500 ? "Internal server error" : `Error ${status}`);
  return new Response(message || title, { status });
}
