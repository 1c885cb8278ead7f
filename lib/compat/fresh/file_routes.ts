import type { RouteFile } from "./build.ts";
import type { Step } from "./steps.ts";
import type { MaybeLazy, Middleware, Route, RouteComponent, RouteConfig } from "./types.ts";

interface RouteModule<State> {
  default?: unknown;
  config?: RouteConfig;
  handler?: Route<State>["handler"];
  handlers?: Route<State>["handler"];
}

/** The order in which files are applied: what wraps before what is wrapped, exact before open. */
export function compareIds(a: string, b: string): number {
  const as = a.split("/");
  const bs = b.split("/");
  for (let i = 0; i < Math.max(as.length, bs.length); i++) {
    const x = as[i];
    const y = bs[i];
    if (x === undefined || y === undefined) return x === undefined ? 1 : -1;
    // A folder's own files come before its sub-folders, so that they wrap them.
    const specialX = i === as.length - 1 && x.startsWith("_");
    const specialY = i === bs.length - 1 && y.startsWith("_");
    if (specialX !== specialY) return specialX ? -1 : 1;
    const order = rank(x) - rank(y) || (x < y ? -1 : x > y ? 1 : 0);
    if (order !== 0) return order;
  }
  return 0;
}

const RANKS: [RegExp, number][] = [
  [/^_app$/, 0],
  [/^_middleware$/, 1],
  [/^_layout$/, 2],
  [/^_/, 3],
  [/^index$/, 4],
  [/^\(.*\)$/, 6],
  [/^\[\.\.\./, 8],
  [/^\[/, 7],
];

function rank(part: string): number {
  return RANKS.find(([pattern]) => pattern.test(part))?.[1] ?? 5;
}

/** `blog/[slug]/index` -> `/blog/:slug`. Groups stay only where they are needed as scopes. */
export function patternOf(id: string, keepGroups = false): string {
  const parts = id.split("/").filter((part) => part !== "");
  if (parts.at(-1) === "index") parts.pop();
  let pattern = "";
  let required = 0;
  for (const part of parts) {
    if (/^\(.*\)$/.test(part)) {
      if (keepGroups) pattern += `/${part}`;
      continue;
    }
    const optional = /^\[\[([^[\]]+)\]\]$/.exec(part);
    const rest = /^\[\.\.\.([^[\]]+)\]$/.exec(part);
    if (optional) {
      pattern += `{/:${optional[1]}}?`;
      continue;
    }
    required++;
    if (rest) {
      pattern += `/:${rest[1]}*`;
      continue;
    }
    const plain = part.replace(/\[([^[\]]+)\]/g, ":$1");
    if (/[[\]]/.test(plain) || part.includes("][")) {
      throw new SyntaxError(`Cannot make a route of "${id}": "${part}" is not a valid segment`);
    }
    pattern += `/${plain}`;
  }
  // "/" itself has to match when all that follows is optional.
  if (required === 0 && pattern.startsWith("{/")) pattern = `/{${pattern.slice(2)}`;
  return pattern === "" ? "/" : pattern;
}

/** What the files of a build add to the app's chain. */
export function fileSteps<State>(files: RouteFile[]): Step<State>[] {
  return [...files].sort((a, b) => compareIds(a.id, b.id)).map((file) => toStep<State>(file));
}

function toStep<State>({ id, module }: RouteFile): Step<State> {
  const slash = id.lastIndexOf("/");
  const folder = patternOf(id.slice(0, slash), true);
  switch (id.slice(slash + 1)) {
    case "_app":
      return { kind: "app", component: component<State>(id, module) };
    case "_layout": {
      const { config } = check<State>(id, module);
      return {
        kind: "layout",
        path: folder,
        component: component<State>(id, module),
        config: config ?? {},
      };
    }
    case "_middleware":
      return { kind: "use", path: folder, fns: middlewares<State>(id, module) };
    case "_404":
      return { kind: "notFound", route: toRoute<State>(id, module) };
    case "_error":
    case "_500":
      return { kind: "error", path: folder, route: toRoute<State>(id, module) };
  }
  const path = patternOf(id, true) + (id.endsWith("/index") && id !== "/index" ? "/" : "");
  let route: MaybeLazy<Route<State>>;
  let pattern = patternOf(id);
  if (typeof module === "function") {
    route = async () => toRoute<State>(id, await module());
  } else {
    route = toRoute<State>(id, module);
    pattern = route.config?.routeOverride ?? pattern;
  }
  return { kind: "route", path, pattern, route, leaf: false };
}

function check<State>(id: string, module: unknown): RouteModule<State> {
  if (module === null || typeof module !== "object") {
    throw new TypeError(`Cannot use routes${id}: it is not a module`);
  }
  return module;
}

function component<State>(id: string, module: unknown): RouteComponent<State> {
  const found = check<State>(id, module).default;
  if (typeof found !== "function") {
    throw new TypeError(`Cannot use routes${id}: its default export has to be a component`);
  }
  return found as RouteComponent<State>;
}

function middlewares<State>(id: string, module: unknown): Middleware<State>[] {
  const mod = check<State>(id, module);
  const found: unknown[] = [mod.handlers ?? mod.handler ?? mod.default].flat();
  if (!found.every((fn): fn is Middleware<State> => typeof fn === "function")) {
    throw new TypeError(
      `Cannot use routes${id}: its default export has to be a middleware or an array of them`,
    );
  }
  return found;
}

function toRoute<State>(id: string, module: unknown): Route<State> {
  const mod = check<State>(id, module);
  const handler = mod.handlers ?? mod.handler;
  if (handler === undefined && typeof mod.default !== "function" && mod.config === undefined) {
    throw new TypeError(
      `Cannot use routes${id}: it has neither a default export (a component) nor a handler`,
    );
  }
  return {
    handler,
    config: mod.config,
    component: mod.default === undefined ? undefined : component<State>(id, module),
  };
}
