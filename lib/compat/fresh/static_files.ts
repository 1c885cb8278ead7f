import { BUILD, type StaticFile } from "./build.ts";
import { CACHE_BUST_PARAM } from "./build_id.ts";
import type { Context } from "./context.ts";
import { mediaType } from "./media_types.ts";
import type { Middleware } from "./types.ts";

/** Serves the build's files: those of static/ and what the browser needs of the islands. */
export function staticFiles<State>(): Middleware<State> {
  return async (ctx) => {
    const { basePath } = ctx.config;
    const { pathname } = ctx.url;
    let path: string;
    try {
      path = decodeURIComponent(
        pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname,
      );
    } catch {
      return await ctx.next();
    }
    const file = ctx[BUILD].find(path);
    if (file !== undefined) return await respond(ctx, path, file);
    // Browsers ask for it unasked; that is not worth an error page.
    return path === "/favicon.ico" ? new Response(null, { status: 404 }) : await ctx.next();
  };
}

async function respond<State>(
  { req, url, config, [BUILD]: build }: Context<State>,
  path: string,
  file: StaticFile,
): Promise<Response> {
  if (req.method !== "GET" && req.method !== "HEAD") {
    return new Response("Method Not Allowed", { status: 405 });
  }
  const version = url.searchParams.get(CACHE_BUST_PARAM);
  if (version !== null && version !== build.id) {
    // A page of another build asks: what it gets must not be cached under that build's name.
    url.searchParams.delete(CACHE_BUST_PARAM);
    return new Response(null, { status: 307, headers: { location: url.pathname + url.search } });
  }

  const headers = new Headers({ "Content-Type": mediaType(path), vary: "If-None-Match" });
  headers.set("Cache-Control", "no-cache");
  if (config.mode === "production") {
    if (version !== null || file.immutable) {
      headers.set("Cache-Control", "public, max-age=31536000, immutable");
    }
    headers.set("ETag", `W/"${file.hash}"`);
    if (req.headers.get("If-None-Match")?.includes(`"${file.hash}"`)) {
      return new Response(null, { status: 304, headers });
    }
  }
  headers.set("Content-Length", String(file.size));
  return new Response(req.method === "HEAD" ? null : await file.open(), { headers });
}
