import { App, csp, staticFiles } from "fresh";
import { host } from "./host.ts";
import { serveUnder } from "./lib/cli/serve.ts";
import { admitToConsole } from "./lib/console/admit.ts";
import type { State } from "./lib/console/define.ts";
import { ROOT } from "./lib/core/product.ts";
import { findDirectAnswer } from "./lib/http/direct_answer.ts";
import { CSP_DIRECTIVES, handleRequest } from "./lib/http/handle_request.ts";

class ConsoleApp extends App<State> {
  override handler() {
    const handle = super.handler();
    return (request: Request, info?: Deno.ServeHandlerInfo) =>
      handle(withReadablePath(request), info);
  }
}

/** The console and its API, around which every request is checked and counted. */
export const app = new ConsoleApp()
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

/** Fresh fails at a path that cannot be decoded, with no page and none of our headers. */
function withReadablePath(request: Request): Request {
  const url = new URL(request.url);
  try {
    decodeURI(url.pathname);
    return request;
  } catch {
    url.pathname = url.pathname.replaceAll("%", "%25");
    return new Request(url, request);
  }
}
