import { App, csp, staticFiles } from "fresh";
import { host } from "./host.ts";
import { admitToConsole } from "./lib/console/admit.ts";
import type { State } from "./lib/console/define.ts";
import { findDirectAnswer } from "./lib/http/direct_answer.ts";
import { inRequestScope } from "./lib/http/request_scope.ts";
import { CSP_DIRECTIVES } from "./lib/http/security_headers.ts";

/** The console and its API, around which every request is checked and counted. */
export const app = new App<State>()
  .use(async (ctx) => {
    ctx.state.gateway = await host.get();
    ctx.state.requestId = crypto.randomUUID();
    return inRequestScope(ctx.state.gateway, ctx.req, ctx.state.requestId, ctx.next);
  })
  .use((ctx) => findDirectAnswer(ctx.state.gateway, ctx.req, ctx.info)?.() ?? ctx.next())
  .use(admitToConsole)
  .use(csp({ useNonce: true, csp: CSP_DIRECTIVES }))
  .use(staticFiles())
  .fsRoutes();
