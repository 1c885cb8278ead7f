import type { Context } from "./context.ts";
import { HttpError } from "./http_error.ts";
import type { Middleware } from "./types.ts";

// deno-lint-ignore no-explicit-any -- the default lets options be written without the state's type
export interface CsrfOptions<State = any> {
  /** Which origins may send requests that change something; the app's own by default. */
  origin?: string | string[] | ((origin: string, context: Context<State>) => boolean);
}

/** Refuses state-changing requests that another site made the browser send. */
export function csrf<State>(options: CsrfOptions<State> = {}): Middleware<State> {
  const allows = (origin: string, ctx: Context<State>): boolean => {
    const allowed = options.origin;
    if (typeof allowed === "function") return allowed(origin, ctx);
    return [allowed || ctx.url.origin].flat().includes(origin);
  };

  return async (ctx) => {
    const { method, headers } = ctx.req;
    if (method === "GET" || method === "HEAD" || method === "OPTIONS") return await ctx.next();

    const site = headers.get("Sec-Fetch-Site");
    const origin = headers.get("Origin");
    // Browsers send at least one of the two; whoever sends neither is no browser.
    const trusted = site === "same-origin" || site === "none" ||
      (site === null && origin === null) || (origin !== null && allows(origin, ctx));
    if (!trusted) throw new HttpError(403);
    return await ctx.next();
  };
}
