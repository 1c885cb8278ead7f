import { App, csp, staticFiles } from "fresh";
import { host } from "./host.ts";
import { serveUnder } from "./lib/cli/serve.ts";
import { admitToConsole } from "./lib/console/admit.ts";
import type { State } from "./lib/console/define.ts";
import { ROOT } from "./lib/core/product.ts";
import { findDirectAnswer } from "./lib/http/direct_answer.ts";
import { CSP_DIRECTIVES, handleRequest } from "./lib/http/handle_request.ts";

/** The console and its API, around which every request is checked and counted. */
export const app = new App<State>()
  .use(async (ctx) => {
    ctx.state.host = await host.get();
    ctx.state.requestId = crypto.randomUUID();
    return handleRequest(ctx.state.host, ctx.req, ctx.state.requestId, ctx.next);
  })
  .use((ctx) => findDirectAnswer(ctx.state.host, ctx.req, ctx.info)?.() ?? ctx.next())
  .use(admitToConsole)
  .use(csp({ useNonce: true, csp: CSP_DIRECTIVES }))
  .use(staticFiles())
  .fsRoutes();

// `deno serve _fresh/server.js` runs only this module, so it starts the gateway itself.
if (Deno.mainModule === new URL("_fresh/server.js", ROOT).href) void serveUnder(host);
