import { type FunctionComponent, isValidElement, type VNode } from "preact";
import type { Build } from "./build.ts";
import { BUILD, WRAPPING, type Wrapping } from "./context_slots.ts";
import { renderResponse } from "./render.ts";
import type { LayoutConfig, ResolvedFreshConfig } from "./types.ts";

export const PARTIAL_PARAM = "fresh-partial";

export interface ContextInit {
  req: Request;
  url: URL;
  info: Deno.ServeHandlerInfo;
  route: string | null;
  params: Record<string, string>;
  config: ResolvedFreshConfig;
  next: () => Promise<Response>;
  build: Build;
}

type Chunks<T> = Iterable<T> | AsyncIterable<T>;

/** One request on its way through the chain. */
export class Context<State> {
  readonly config: ResolvedFreshConfig;
  readonly url: URL;
  req: Request;
  /** The matched pattern. */
  readonly route: string | null;
  readonly params: Record<string, string>;
  readonly state: State = {} as State;
  data: unknown = undefined;
  error: unknown | null = null;
  readonly info: Deno.ServeHandlerInfo;
  /** Whether only the page's partials are wanted. */
  readonly isPartial: boolean;
  next: () => Promise<Response>;
  Component!: FunctionComponent;

  [WRAPPING]: Wrapping<State> = { app: null, layouts: [] };
  readonly [BUILD]: Build;

  constructor(init: ContextInit) {
    this.req = init.req;
    this.url = init.url;
    this.info = init.info;
    this.route = init.route;
    this.params = init.params;
    this.config = init.config;
    this.next = init.next;
    this.isPartial = init.url.searchParams.has(PARTIAL_PARAM);
    this[BUILD] = init.build;
  }

  redirect(pathOrUrl: string, status = 302): Response {
    let location = pathOrUrl;
    if (location.startsWith("/")) {
      // Browsers read `//host` and `/\host` as another site.
      const [, path = "", rest = ""] = /^([^?#]*)(.*)$/s.exec(location) ?? [];
      location = path.replace(/[/\\]{2,}/g, "/") + rest;
    }
    if (this.isPartial) {
      const [, base = "", hash = ""] = /^([^#]*)(.*)$/s.exec(location) ?? [];
      location = `${base}${base.includes("?") ? "&" : "?"}${PARTIAL_PARAM}=true${hash}`;
    }
    return new Response(null, { status, headers: { location } });
  }

  /** Renders inside the inherited layouts and app wrapper. */
  async render(
    // deno-lint-ignore no-explicit-any -- a page's vnode may have any props
    vnode: VNode<any> | null,
    init: ResponseInit = {},
    config: LayoutConfig = {},
  ): Promise<Response> {
    if (vnode !== null && !isValidElement(vnode)) {
      throw new TypeError("ctx.render() takes JSX or null");
    }
    return await renderResponse(this, vnode, init, config);
  }

  text(content: string, init?: ResponseInit): Response {
    return new Response(content, init);
  }

  html(content: string, init?: ResponseInit): Response {
    const headers = new Headers(init?.headers);
    headers.set("Content-Type", "text/html; charset=utf-8");
    return new Response(content, { ...init, headers });
  }

  json(content: unknown, init?: ResponseInit): Response {
    return Response.json(content, init);
  }

  /** Streams text or bytes as they are produced. */
  stream<U extends string | Uint8Array>(
    stream: Chunks<U> | (() => Chunks<U>),
    init?: ResponseInit,
  ): Response {
    const encoder = new TextEncoder();
    const bytes = ReadableStream.from(typeof stream === "function" ? stream() : stream)
      .pipeThrough(
        new TransformStream<U, Uint8Array>({
          transform(chunk, controller) {
            controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
          },
        }),
      );
    return new Response(bytes, init);
  }
}
