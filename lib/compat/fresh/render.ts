import type { ComponentChildren, FunctionComponent } from "preact";
import { BUILD } from "./build.ts";
import type { Context } from "./context.ts";
import type { AsyncComponent, LayoutConfig, PageProps, RouteComponent } from "./types.ts";

/** What wraps the page at this point of the chain. */
export interface Wrapping<State> {
  app: RouteComponent<State> | null;
  layouts: RouteComponent<State>[];
}
export const WRAPPING: unique symbol = Symbol("wrapping");

/** The nonce of each rendered page, for csp(): as a header it would leak. */
export const nonces: WeakMap<Response, string> = new WeakMap();

export async function renderResponse<State>(
  ctx: Context<State>,
  content: ComponentChildren,
  init: ResponseInit,
  config: LayoutConfig = {},
): Promise<Response> {
  const { app, layouts } = ctx[WRAPPING];
  const around = config.skipInheritedLayouts ? [] : layouts.toReversed();
  if (app !== null && !config.skipAppWrapper) around.push(app);
  for (const component of around) {
    const inner = content;
    const result: ComponentChildren = await renderComponent(ctx, component, null, () => inner);
    if (result instanceof Response) return result;
    content = result;
  }

  const build = ctx[BUILD];
  // Loaded with the first page: an app that has answered no page yet does without.
  const { PageRenderer } = await import("./page_renderer.ts");
  const page = new PageRenderer(ctx, build, await build.islands());
  const html = page.render(content);
  const headers = new Headers(init.headers);
  headers.set("Content-Type", "text/html; charset=utf-8");
  for (const url of page.preloads()) headers.append("Link", `<${url}>; rel="modulepreload"`);
  const response = new Response(html, { ...init, headers });
  nonces.set(response, page.nonce);
  return response;
}

/** Async components are awaited here; others are left to Preact. */
export async function renderComponent<State>(
  ctx: Context<State>,
  component: RouteComponent<State>,
  data: unknown,
  Component: FunctionComponent,
): Promise<ComponentChildren | Response> {
  const { config, error, info, isPartial, params, req, state, url, route } = ctx;
  const shared = { config, error, info, isPartial, params, req, state, url, route };
  const props: PageProps<unknown, State> = { ...shared, Component, data };
  if (isAsync(component)) return await component(props);
  const { h } = await import("preact");
  return h(component, props);
}

function isAsync<State>(
  component: RouteComponent<State>,
): component is AsyncComponent<PageProps<unknown, State>> {
  return component.constructor.name === "AsyncFunction";
}
