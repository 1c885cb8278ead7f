import { nonces } from "./render.ts";
import type { Middleware } from "./types.ts";

export interface CSPOptions {
  /** Directives that add to the defaults or take the place of those of the same name. */
  csp?: string[];
  /** Allows inline scripts and styles of rendered pages by nonce, not all of them. */
  useNonce?: boolean;
}

const DEFAULTS = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' data: blob:",
  "worker-src 'self' blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "upgrade-insecure-requests",
];

const INLINE = /^(default-src|script-src(-elem)?|style-src(-elem|-attr)?) /;

/** Sets a Content-Security-Policy on every response. */
export function csp<State>(options: CSPOptions = {}): Middleware<State> {
  const { csp: own = [], useNonce = false } = options;
  const nameOf = (directive: string) => directive.split(" ", 1)[0];
  const overridden = new Set(own.map(nameOf));
  const directives = [...DEFAULTS.filter((one) => !overridden.has(nameOf(one))), ...own];

  return async (ctx) => {
    const response = await ctx.next();
    const nonce = useNonce ? nonces.get(response) : undefined;
    const policy = nonce === undefined
      ? directives
      : directives.map((directive) =>
        INLINE.test(directive)
          ? directive.replaceAll("'unsafe-inline'", `'nonce-${nonce}'`)
          : directive
      );
    response.headers.set("Content-Security-Policy", policy.join("; "));
    return response;
  };
}
