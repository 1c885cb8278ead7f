import { type ComponentChildren, type FunctionComponent, h } from "preact";
import type { Context } from "./context.ts";
import { BUILD, nonces, WRAPPING } from "./context_slots.ts";
import { PageRenderer } from "./page_renderer.ts";
import type { AsyncComponent, LayoutConfig, PageProps, RouteComponent } from "./types.ts";

export async function renderResponse<State>(
  ctx: Context<State>,
  content: ComponentChildren,
  init: ResponseInit,
  config: LayoutConfig,
): Promise<Response> {
  const { app, layouts } = ctx[WRAPPING];
  const around = config.skipInheritedLayouts ? [] : layouts.toReversed();
  if (app !== null && !config.skipAppWrapper) around.push(app);

  let vnode: ComponentChildren = content;
  for (const component of around) {
    const inner: ComponentChildren = vnode;
    const result: ComponentChildren = await renderComponent(ctx, component, null, () => inner);
    if (result instanceof Response) return result;
    vnode = result;
  }

  const build = ctx[BUILD];
  const page = new PageRenderer({
    build,
    islands: await build.islands(),
    url: ctx.url,
    basePath: ctx.config.basePath,
    isPartial: ctx.isPartial,
    isDevelopment: ctx.config.mode === "development",
  });
  const html = page.render(vnode);

  const headers = new Headers(init.headers);
  headers.set("Content-Type", "text/html; charset=utf-8");
  const preloads = page.preloads();
  if (preloads.length > 0) {
    headers.append(
      "Link",
      preloads.map((url) => `<${encodeURI(url)}>; rel="modulepreload"; as="script"`).join(", "),
    );
  }
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
  const props: PageProps<unknown, State> = {
    Component,
    config,
    data,
    error,
    info,
    isPartial,
    params,
    req,
    state,
    url,
    route,
  };
  if (!isAsync(component)) return h(component, props);
  return await component(props);
}

function isAsync<State>(
  component: RouteComponent<State>,
): component is AsyncComponent<PageProps<unknown, State>> {
  return component.constructor.name === "AsyncFunction";
}
