import type { RouteComponent } from "./types.ts";

/** What wraps the page at this point of the chain. */
export interface Wrapping<State> {
  app: RouteComponent<State> | null;
  layouts: RouteComponent<State>[];
}

// Symbols, so that an app's code cannot come to depend on them.
export const WRAPPING: unique symbol = Symbol("wrapping");
export const BUILD: unique symbol = Symbol("build");

/** The nonce of each rendered page, for csp(): as a header it would leak. */
export const nonces: WeakMap<Response, string> = new WeakMap();
