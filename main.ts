import { App, csp, staticFiles } from "fresh";
import { serve } from "./lib/cli/serve.ts";
import type { State } from "./lib/console/define.ts";
import { GatewayHost } from "./lib/host.ts";
import { findDirectAnswer } from "./lib/http/direct_answer.ts";
import { inRequestScope } from "./lib/http/request_scope.ts";
import { CSP_DIRECTIVES } from "./lib/http/security_headers.ts";

export const host = new GatewayHost();

export const app = new App<State>()
  .use(async (ctx) => {
    ctx.state.gateway = await host.get();
    ctx.state.requestId = crypto.randomUUID();
    return inRequestScope(ctx.state.gateway, ctx.req, ctx.state.requestId, ctx.next);
  })
  .use((ctx) => findDirectAnswer(ctx.state.gateway, ctx.req)?.() ?? ctx.next())
  .use(csp({ useNonce: true, csp: CSP_DIRECTIVES }))
  .use(staticFiles())
  .fsRoutes();

if (import.meta.main) {
  // Not awaited: the built app imports this module, which must have ended by then.
  void serve(host, () => import(new URL("./_fresh/server.js", import.meta.url).href));
}
