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

export type ListenOptions =
  & globalThis.Partial<Deno.ServeTcpOptions & Deno.TlsCertifiedKeyPem>
  & { remoteAddress?: string };

export type Handler = (request: Request, info?: Deno.ServeHandlerInfo) => Promise<Response>;

const NO_CONNECTION: Deno.ServeHandlerInfo<Deno.NetAddr> = {
  remoteAddr: { transport: "tcp", hostname: "localhost", port: 1234 },
  completed: Promise.resolve(),
};

/** Middlewares, routes, layouts and error pages, applied from top to bottom. */
export class App<State> {
  config: ResolvedFreshConfig;
  #steps: Step<State>[] = [];

  constructor(config: FreshConfig = {}) {
    this.config = {
      root: ".",
      basePath: config.basePath ?? "",
      mode: config.mode ?? "production",
      trustProxy: config.trustProxy ?? false,
    };
  }

  use(...middleware: MaybeLazyMiddleware<State>[]): this;
  use(path: string, ...middleware: MaybeLazyMiddleware<State>[]): this;
  use(
    first: string | MaybeLazyMiddleware<State>,
    ...rest: MaybeLazyMiddleware<State>[]
  ): this {
    return typeof first === "string"
      ? this.#add({ kind: "use", path: first, fns: rest })
      : this.#add({ kind: "use", path: "*", fns: [first, ...rest] });
  }

  get(path: string, ...fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#addMethod(["GET"], path, fns);
  }

  post(path: string, ...fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#addMethod(["POST"], path, fns);
  }

  put(path: string, ...fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#addMethod(["PUT"], path, fns);
  }

  patch(path: string, ...fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#addMethod(["PATCH"], path, fns);
  }

  delete(path: string, ...fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#addMethod(["DELETE"], path, fns);
  }

  head(path: string, ...fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#addMethod(["HEAD"], path, fns);
  }

  all(path: string, ...fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#addMethod(METHODS, path, fns);
  }

  route(path: string, route: MaybeLazy<Route<State>>, config?: RouteConfig): this {
    const own = typeof route === "function" ? config : route.config;
    return this.#add({
      kind: "route",
      path,
      pattern: own?.routeOverride ?? path,
      route,
      leaf: true,
      ...(Array.isArray(config?.methods) ? { methods: config.methods } : {}),
    });
  }

  layout(path: string, component: RouteComponent<State>, config: LayoutConfig = {}): this {
    return this.#add({ kind: "layout", path, component, config });
  }

  appWrapper(component: RouteComponent<State>): this {
    return this.#add({ kind: "app", component });
  }

  notFound(routeOrMiddleware: Route<State> | Middleware<State>): this {
    return this.#add({ kind: "notFound", route: asRoute(routeOrMiddleware) });
  }

  onError(path: string, routeOrMiddleware: Route<State> | Middleware<State>): this {
    return this.#add({ kind: "error", path, route: asRoute(routeOrMiddleware) });
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
        this.#steps.push(step);
        continue;
      }
      // For a middleware `*` means the whole mounted app; for a route, all paths below.
      const isRoute = step.kind === "route" || step.kind === "method";
      const at = (inner: string) =>
        joinPath(path, basePath === "" ? inner : joinPath(basePath, inner, !isRoute), true);
      const moved = { ...step, path: at(step.path) };
      if (moved.kind === "route") moved.pattern = at(moved.pattern);
      this.#steps.push(moved);
    }
    return this;
  }

  handler(): Handler {
    const build = buildOf(this);
    const { config } = this;
    const { router, fallback } = compile<State>(
      this.#steps,
      config.basePath,
      () => fileSteps(build.routes),
    );

    return async (req, info = NO_CONNECTION) => {
      const url = requestUrl(req, config.trustProxy);
      const method = req.method.toUpperCase() as Method;
      const { pattern, params, item, allowed } = router.match(method, url);
      const next = pattern === null || item !== undefined
        ? fail(404)
        : method === "OPTIONS"
        ? () =>
          Promise.resolve(
            new Response(null, { status: 204, headers: { Allow: allowed.join(", ") } }),
          )
        : fail(405);

      const ctx = new Context<State>({
        req,
        url,
        info,
        route: pattern,
        params,
        config,
        next,
        build,
      });
      try {
        const response = await (item ?? fallback)(ctx);
        if (!(response instanceof Response)) {
          throw new TypeError(`${method} ${url.pathname}: a handler returned no Response`);
        }
        return method === "HEAD" ? withoutBody(response) : response;
      } catch (error) {
        return unhandled(error);
      }
    };
  }

  async listen(options: ListenOptions = {}): Promise<void> {
    await serve(this.handler(), options, this.config.basePath);
  }

  #add(step: Step<State>): this {
    this.#steps.push(step);
    return this;
  }

  #addMethod(methods: Method[], path: string, fns: MaybeLazy<Middleware<State>>[]): this {
    return this.#add({
      kind: "method",
      methods,
      path,
      fns: fns as MaybeLazyMiddleware<State>[],
    });
  }
}

/** Serves until it is aborted. Without a port it takes the first free one from 8000 on. */
export async function serve(
  handler: Handler,
  options: ListenOptions,
  basePath: string,
): Promise<void> {
  const onListen = options.onListen ??
    (({ hostname, port }) => log(`Listening on http://${hostname}:${port}${basePath}/`));
  const open = (port: number) => Deno.serve({ ...options, port, onListen }, handler);
  if (options.port !== undefined) return await open(options.port).finished;
  for (let port = 8000;; port++) {
    try {
      return await open(port).finished;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse) || port === 8019) throw error;
    }
  }
}

function asRoute<State>(given: Route<State> | Middleware<State>): Route<State> {
  return typeof given === "function" ? { handler: given } : given;
}

function fail(status: 404 | 405): () => Promise<Response> {
  return () => Promise.reject(new HttpError(status));
}

function requestUrl(req: Request, trustProxy: boolean): URL {
  const url = new URL(req.url);
  if (url.pathname.includes("//")) url.pathname = url.pathname.replace(/\/{2,}/g, "/");
  if (trustProxy) {
    const proto = req.headers.get("x-forwarded-proto");
    const host = req.headers.get("x-forwarded-host");
    if (proto) url.protocol = `${proto}:`;
    if (host) url.host = host;
  }
  return url;
}

function withoutBody(response: Response): Response {
  response.body?.cancel();
  return new Response(null, response);
}

const TITLES: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
};

function unhandled(error: unknown): Response {
  if (error instanceof HttpError && error.status < 500) {
    const title = error.message || TITLES[error.status] || `Error ${error.status}`;
    return new Response(title, { status: error.status });
  }
  log(error instanceof Error ? error.stack ?? error.message : String(error));
  const status = error instanceof HttpError ? error.status : 500;
  const message = error instanceof HttpError && error.message || "Internal server error";
  return new Response(message, { status });
}
