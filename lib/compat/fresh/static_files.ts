import type { StaticFile } from "./build.ts";
import { CACHE_BUST_PARAM } from "./build_id.ts";
import type { Context } from "./context.ts";
import { BUILD } from "./context_slots.ts";
import type { Middleware } from "./types.ts";

/** Serves the build's files: those of static/ and what the browser needs of the islands. */
export function staticFiles<State>(): Middleware<State> {
  return async (ctx) => {
    const { basePath } = ctx.config;
    let pathname = ctx.url.pathname;
    if (basePath !== "" && pathname.startsWith(`${basePath}/`)) {
      pathname = pathname.slice(basePath.length);
    }
    let decoded: string;
    try {
      decoded = decodeURIComponent(pathname);
    } catch {
      return await ctx.next();
    }

    const file = await ctx[BUILD].find(decoded);
    if (file === undefined) {
      // Browsers ask for it unasked; that is not worth an error page.
      if (decoded === "/favicon.ico") return new Response(null, { status: 404 });
      return await ctx.next();
    }
    return await respond(ctx, file);
  };
}

async function respond<State>(ctx: Context<State>, file: StaticFile): Promise<Response> {
  const { req, url, config } = ctx;
  if (req.method !== "GET" && req.method !== "HEAD") {
    return new Response("Method Not Allowed", { status: 405, headers: { allow: "GET, HEAD" } });
  }

  const version = url.searchParams.get(CACHE_BUST_PARAM);
  if (version !== null && version !== ctx[BUILD].id) {
    // A page of another build asks: what it gets must not be cached under that build's name.
    const plain = new URL(url);
    plain.searchParams.delete(CACHE_BUST_PARAM);
    return new Response(null, {
      status: 307,
      headers: { location: plain.pathname + plain.search },
    });
  }

  const headers = new Headers({ "Content-Type": file.contentType, vary: "If-None-Match" });
  const isDevelopment = config.mode === "development";
  const isImmutable = !isDevelopment && (version !== null || file.immutable);
  headers.set(
    "Cache-Control",
    isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
  );
  if (!isDevelopment) {
    const etag = `W/"${file.hash}"`;
    headers.set("ETag", etag);
    const known = req.headers.get("If-None-Match")?.split(",").map((tag) => tag.trim()) ?? [];
    if (known.includes(etag) || known.includes(`"${file.hash}"`) || known.includes(file.hash)) {
      return new Response(null, { status: 304, headers });
    }
  }
  headers.set("Content-Length", String(file.size));
  return new Response(req.method === "HEAD" ? null : await file.open(), { headers });
}
