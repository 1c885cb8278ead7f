import type { FunctionComponent, VNode } from "preact";
import { BUILD, type Build } from "./build.ts";
import { renderResponse, WRAPPING, type Wrapping } from "./render.ts";
import type { LayoutConfig, ResolvedFreshConfig } from "./types.ts";

export const PARTIAL_PARAM = "fresh-partial";

type Chunks<T> = Iterable<T> | AsyncIterable<T>;
type Given = Pick<
  Context<unknown>,
  "req" | "url" | "info" | "route" | "params" | "config" | "next"
>;

/** One request on its way through the chain. */
export class Context<State> {
  declare readonly config: ResolvedFreshConfig;
  declare readonly url: URL;
  declare req: Request;
  declare readonly info: Deno.ServeHandlerInfo;
  /** The matched pattern. */
  declare readonly route: string | null;
  declare readonly params: Record<string, string>;
  declare next: () => Promise<Response>;
  declare Component: FunctionComponent;
  readonly state: State = {} as State;
  data: unknown = undefined;
  error: unknown | null = null;
  /** Whether only the page's partials are wanted. */
  readonly isPartial: boolean;
  readonly [BUILD]: Build;
  [WRAPPING]: Wrapping<State> = { app: null, layouts: [] };

  constructor(given: Given, build: Build) {
    Object.assign(this, given);
    this.isPartial = given.url.searchParams.has(PARTIAL_PARAM);
    this[BUILD] = build;
  }

  redirect(pathOrUrl: string, status = 302): Response {
    let [, path = "", search = "", hash = ""] = /^([^?#]*)([^#]*)(.*)$/s.exec(pathOrUrl) ?? [];
    // Browsers read `//host` and `/\host` as another site.
    if (path.startsWith("/")) path = path.replace(/[/\\]{2,}/g, "/");
    if (this.isPartial) search += `${search === "" ? "?" : "&"}${PARTIAL_PARAM}=true`;
    return new Response(null, { status, headers: { location: path + search + hash } });
  }

  /** Renders inside the inherited layouts and app wrapper. */
  async render(
    // deno-lint-ignore no-explicit-any -- a page's vnode may have any props
    vnode: VNode<any> | null,
    init: ResponseInit = {},
    config: LayoutConfig = {},
  ): Promise<Response> {
    const { isValidElement } = await import("preact");
    if (vnode !== null && !isValidElement(vnode)) throw new TypeError("ctx.render() takes JSX");
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
    const encode = new TransformStream<U, Uint8Array>({
      transform: (chunk, controller) =>
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk),
    });
    const chunks = typeof stream === "function" ? stream() : stream;
    return new Response(ReadableStream.from(chunks).pipeThrough(encode), init);
  }
}
