import { HttpError } from "./http_error.ts";
import { WRAPPING } from "./render.ts";
import { renderRoute } from "./route.ts";
import { joinPath, Router, scopesOf } from "./router.ts";
import type {
  LayoutConfig,
  MaybeLazy,
  MaybeLazyMiddleware,
  Method,
  Middleware,
  Route,
  RouteComponent,
} from "./types.ts";

export const METHODS: Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

interface Layout<State> {
  component: RouteComponent<State>;
  config: LayoutConfig;
}

/** One call on the app's chain. They are applied top to bottom when the handler is made. */
export type Step<State> =
  | { kind: "use"; path: string; fns: MaybeLazyMiddleware<State>[] }
  | { kind: "layout"; path: string } & Layout<State>
  | { kind: "error"; path: string; route: Route<State> }
  | { kind: "app"; component: RouteComponent<State> }
  | { kind: "notFound"; route: Route<State> }
  | { kind: "method"; path: string; methods: Method[]; fns: MaybeLazyMiddleware<State>[] }
  | { kind: "route"; path: string } & RouteStep<State>
  | { kind: "files"; path: string };

interface RouteStep<State> {
  pattern: string;
  route: MaybeLazy<Route<State>>;
  methods?: Method[];
}

/** A folder of the path tree, with what has been put there so far. */
class Scope<State> {
  fns: MaybeLazyMiddleware<State>[] = [];
  layout: Layout<State> | null = null;
  error: Route<State> | null = null;
  app: RouteComponent<State> | null = null;
  notFound: Route<State> | null = null;
  #children = new Map<string, Scope<State>>();

  constructor(readonly parent: Scope<State> | null = null) {}

  at(path: string): Scope<State> {
    return scopesOf(path).reduce((scope: Scope<State>, name) => {
      const child = scope.#children.get(name) ?? new Scope(scope);
      scope.#children.set(name, child);
      return child;
    }, this);
  }

  /** All middlewares from the root down to here, as they are now: later steps do not count. */
  chain(root: Scope<State>): MaybeLazyMiddleware<State>[] {
    return [...this.parent?.chain(root) ?? [], this.#frame(root), ...this.fns];
  }

  #frame(root: Scope<State>): Middleware<State> {
    const { layout, error, app } = this;
    return async (ctx) => {
      const above = ctx[WRAPPING];
      const { skipAppWrapper, skipInheritedLayouts } = layout?.config ?? {};
      ctx[WRAPPING] = {
        app: skipAppWrapper ? null : app ?? above.app,
        layouts: [
          ...skipInheritedLayouts ? [] : above.layouts,
          ...layout === null ? [] : [layout.component],
        ],
      };
      try {
        return await ctx.next();
      } catch (thrown) {
        ctx.error = thrown;
        const status = thrown instanceof HttpError ? thrown.status : 500;
        const route = status === 404 && root.notFound !== null ? root.notFound : error;
        if (route === null) throw thrown;
        return await renderRoute(ctx, route, { status, thrown });
      }
    };
  }
}

/** Turns the steps into routes, and a fallback for requests that no route answers. */
export function compile<State>(
  steps: Step<State>[],
  basePath: string,
  files: () => Step<State>[],
): { router: Router<Middleware<State>>; fallback: Middleware<State> } {
  const router = new Router<Middleware<State>>();
  const root = new Scope<State>();

  const add = (
    base: string,
    path: string,
    methods: Method[],
    fns: MaybeLazyMiddleware<State>[],
  ) => {
    const run = sequence(fns);
    for (const method of methods) router.add(method, joinPath(base, path) || "*", run);
  };
  const apply = (step: Step<State>, base: string): void => {
    switch (step.kind) {
      case "use":
        root.at(step.path).fns.push(...step.fns);
        break;
      case "layout":
        root.at(step.path).layout = step;
        break;
      case "error":
        root.at(step.path).error = step.route;
        break;
      case "app":
        root.app = step.component;
        break;
      case "notFound":
        root.notFound = step.route;
        break;
      case "method":
        add(base, step.path, step.methods, [...root.at(step.path).chain(root), ...step.fns]);
        break;
      case "route": {
        const above = root.at(step.path).chain(root);
        const methods = step.methods ?? methodsOf(step.route);
        add(base, step.pattern, methods, [...above, routeMiddleware(step.route)]);
        break;
      }
      case "files":
        for (const inner of files()) apply(inner, joinPath(base, step.path, true));
    }
  };
  for (const step of steps) apply(step, basePath);
  return { router, fallback: sequence(root.chain(root)) };
}

function routeMiddleware<State>(route: MaybeLazy<Route<State>>): Middleware<State> {
  if (typeof route !== "function") return (ctx) => renderRoute(ctx, route);
  let loaded: Route<State> | undefined;
  return async (ctx) => renderRoute(ctx, loaded ??= await route());
}

function methodsOf<State>(route: MaybeLazy<Route<State>>): Method[] {
  if (typeof route === "function" || typeof route.handler !== "object") return METHODS;
  const { handler, component } = route;
  return METHODS.filter((method) => handler[method] ?? (method === "GET" ? component : undefined));
}

function sequence<State>(fns: MaybeLazyMiddleware<State>[]): Middleware<State> {
  return (ctx) => {
    const last = ctx.next;
    const run = async (index: number): Promise<Response> => {
      const fn = fns[index];
      if (fn === undefined) return await last();
      const wrapping = ctx[WRAPPING];
      ctx.next = () => run(index + 1);
      try {
        const result = await fn(ctx);
        if (typeof result !== "function") return result;
        fns[index] = result;
        return await result(ctx);
      } catch (error) {
        ctx.error = error;
        throw error;
      } finally {
        ctx[WRAPPING] = wrapping;
      }
    };
    return run(0);
  };
}
