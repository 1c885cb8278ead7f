import { WRAPPING } from "./context_slots.ts";
import { HttpError } from "./http_error.ts";
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

/** One call on the app's chain. They are applied top to bottom when the handler is made. */
export type Step<State> =
  | { kind: "use"; path: string; fns: MaybeLazyMiddleware<State>[] }
  | { kind: "layout"; path: string; component: RouteComponent<State>; config: LayoutConfig }
  | { kind: "error"; path: string; route: Route<State> }
  | { kind: "app"; component: RouteComponent<State> }
  | { kind: "notFound"; route: Route<State> }
  | { kind: "method"; path: string; methods: Method[]; fns: MaybeLazyMiddleware<State>[] }
  | {
    kind: "route";
    path: string;
    pattern: string;
    route: MaybeLazy<Route<State>>;
    methods?: Method[];
    /** Whether the path's last part is a scope of its own, for layouts and middlewares. */
    leaf: boolean;
  }
  | { kind: "files"; path: string };

export interface Compiled<State> {
  router: Router<Middleware<State>>;
  /** For requests that no route answers: the root's middlewares and error pages. */
  fallback: Middleware<State>;
}

/** A folder of the path tree, with what has been put there so far. */
class Scope<State> {
  fns: MaybeLazyMiddleware<State>[] = [];
  layout: { component: RouteComponent<State>; config: LayoutConfig } | null = null;
  error: Route<State> | null = null;
  app: RouteComponent<State> | null = null;
  notFound: Route<State> | null = null;
  #children = new Map<string, Scope<State>>();

  constructor(readonly parent: Scope<State> | null = null) {}

  at(path: string, leaf = true): Scope<State> {
    // deno-lint-ignore no-this-alias -- the walk starts here
    let scope: Scope<State> = this;
    for (const name of scopesOf(path, leaf)) {
      let child = scope.#children.get(name);
      if (child === undefined) scope.#children.set(name, child = new Scope(scope));
      scope = child;
    }
    return scope;
  }

  /** All middlewares from the root down to here, as they are now: later steps do not count. */
  chain(root: Scope<State>): MaybeLazyMiddleware<State>[] {
    const above = this.parent?.chain(root) ?? [];
    return [...above, this.#frame(root), ...this.fns];
  }

  #frame(root: Scope<State>): Middleware<State> {
    const { layout, error, app } = this;
    return async (ctx) => {
      const wrapping = { ...ctx[WRAPPING] };
      if (app !== null) wrapping.app = app;
      if (layout !== null) {
        if (layout.config.skipAppWrapper) wrapping.app = null;
        const inherited = layout.config.skipInheritedLayouts ? [] : wrapping.layouts;
        wrapping.layouts = [...inherited, layout.component];
      }
      ctx[WRAPPING] = wrapping;
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

export function compile<State>(
  steps: Step<State>[],
  basePath: string,
  files: () => Step<State>[],
): Compiled<State> {
  const router = new Router<Middleware<State>>();
  const root = new Scope<State>();

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
      case "method": {
        const run = sequence([...root.at(step.path).chain(root), ...step.fns]);
        const pattern = joinPath(base, step.path) || "*";
        for (const method of step.methods) router.add(method, pattern, run);
        break;
      }
      case "route": {
        const scopes = root.at(step.path, step.leaf).chain(root);
        const run = sequence([...scopes, routeMiddleware(step.route)]);
        const pattern = joinPath(base, step.pattern) || "*";
        for (const method of step.methods ?? methodsOf(step.route)) {
          router.add(method, pattern, run);
        }
        break;
      }
      case "files": {
        const below = joinPath(base, step.path, true);
        for (const inner of files()) apply(inner, below);
      }
    }
  };
  for (const step of steps) apply(step, basePath);

  return { router, fallback: sequence(root.chain(root)) };
}

function routeMiddleware<State>(route: MaybeLazy<Route<State>>): Middleware<State> {
  if (typeof route !== "function") return (ctx) => renderRoute(ctx, route);
  let loading: Promise<Route<State>> | undefined;
  return async (ctx) => {
    loading ??= route();
    try {
      return await renderRoute(ctx, await loading);
    } catch (error) {
      // A failed import must not stick for the process's life.
      await loading.catch(() => loading = undefined);
      throw error;
    }
  };
}

function methodsOf<State>(route: MaybeLazy<Route<State>>): Method[] {
  if (typeof route === "function" || typeof route.handler !== "object") return METHODS;
  const { handler, component } = route;
  return METHODS.filter((method) =>
    handler[method] !== undefined || (method === "GET" && component !== undefined)
  );
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
        let result = await fn(ctx);
        if (typeof result === "function") {
          fns[index] = result;
          result = await result(ctx);
        }
        return result;
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
