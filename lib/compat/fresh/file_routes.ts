import type { RouteFile } from "./build.ts";
import type { Step } from "./steps.ts";
import type { Middleware, Route } from "./types.ts";

interface RouteModule<State> extends Omit<Route<State>, "component"> {
  default?: Route<State>["component"];
  handlers?: Route<State>["handler"];
}

const RANKS = [/^_app$/, /^_m/, /^_l/, /^_/, /^index$/, /^[^[(]/, /^\(/, /^\[[^.]/, /^/];

/** The order in which files are applied: what wraps before what is wrapped, exact before open. */
export function compareIds(a: string, b: string): number {
  const [as, bs] = [a.split("/"), b.split("/")];
  // A folder's own special files come before its sub-folders, whatever those are called.
  const rank = (parts: string[], i: number) =>
    RANKS.findIndex((pattern) => pattern.test(parts[i] ?? "")) +
    (parts[i]?.startsWith("_") && i < parts.length - 1 ? RANKS.length : 0);
  for (const [i, x] of as.entries()) {
    const y = bs[i];
    if (y === undefined) return -1;
    const order = rank(as, i) - rank(bs, i) || (x < y ? -1 : Number(x > y));
    if (order !== 0) return order;
  }
  return as.length < bs.length ? 1 : 0;
}

/** `blog/[slug]/index` -> `/blog/:slug`. Groups stay only where they are needed as scopes. */
export function patternOf(id: string, keepGroups = false): string {
  const parts = id.split("/").filter((part) =>
    part !== "" && (keepGroups || !/^\(.*\)$/.test(part))
  );
  if (parts.at(-1) === "index") parts.pop();
  const pattern = parts.map((part) => {
    const optional = /^\[\[([^[\]]+)\]\]$/.exec(part);
    if (optional !== null) return `{/:${optional[1]}}?`;
    const plain = part.replace(/^\[\.\.\.([^[\]]+)\]$/, ":$1*").replace(/\[([^[\]]+)\]/g, ":$1");
    if (/[[\]]/.test(plain) || part.includes("][")) {
      throw new SyntaxError(`Cannot make a route of "${id}": "${part}" is not a valid segment`);
    }
    return `/${plain}`;
  }).join("");
  // "/" itself has to match when all that follows is optional.
  if (/^(\{[^}]*\}\?)+$/.test(pattern)) return pattern.replace("{/", "/{");
  return pattern === "" ? "/" : pattern;
}

/** What the files of a build add to the app's chain. */
export function fileSteps<State>(files: RouteFile[]): Step<State>[] {
  return files.toSorted((a, b) => compareIds(a.id, b.id)).map((file) => toStep<State>(file));
}

function toStep<State>({ id, module }: RouteFile): Step<State> {
  const slash = id.lastIndexOf("/");
  const path = patternOf(id.slice(0, slash), true);
  if (typeof module === "function") {
    const route = async () => toRoute<State>(id, await module());
    return { kind: "route", path, pattern: patternOf(id), route };
  }
  const route = toRoute<State>(id, module);
  const { component, config = {}, handler } = route;
  switch (id.slice(slash + 1)) {
    case "_middleware": {
      const fns = [handler ?? component].flat() as Middleware<State>[];
      if (fns.every((fn) => typeof fn === "function")) return { kind: "use", path, fns };
      throw unusable(id, "has to export a middleware or an array of them");
    }
    case "_app":
      if (component === undefined) throw unusable(id, "needs a component");
      return { kind: "app", component };
    case "_layout":
      if (component === undefined) throw unusable(id, "needs a component");
      return { kind: "layout", path, component, config };
    case "_404":
      return { kind: "notFound", route };
    case "_error":
    case "_500":
      return { kind: "error", path, route };
    default:
      return { kind: "route", path, pattern: config.routeOverride ?? patternOf(id), route };
  }
}

function toRoute<State>(id: string, module: unknown): Route<State> {
  const { default: component, config, handler, handlers }: RouteModule<State> = Object(module);
  if (component === undefined && handler === undefined && handlers === undefined) {
    throw unusable(id, "has neither a default export (a component) nor a handler");
  }
  return { handler: handlers ?? handler, config, component };
}

function unusable(id: string, reason: string): TypeError {
  return new TypeError(`Cannot use routes${id}: it ${reason}`);
}
