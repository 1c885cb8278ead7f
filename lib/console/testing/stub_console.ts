import { App, csp, staticFiles } from "fresh";
import { Builder } from "fresh/dev";
import { fromFileUrl } from "@std/path";
import { bundleStyles, STATIC_FOLDERS } from "../../cli/bundle.ts";
import type { Gateway } from "../../gateway.ts";
import { EventHub } from "../../http/event_hub.ts";
import { CSP_DIRECTIVES, secureHeaders } from "../../http/handle_request.ts";
import type { State } from "../define.ts";

export interface StubConsole extends AsyncDisposable {
  url: string;
  /** Says something on the live channel. */
  publish(type: string, data: unknown): void;
}

/**
 * The console's real pages, islands and styles in front of a gateway made for the test, for what
 * the real one cannot show on demand: thousands of tools, hostile names, a page that fails.
 */
export async function startStubConsole(gateway: Gateway): Promise<StubConsole> {
  const events = new EventHub();
  const closing = new AbortController();
  const requestLog = { error() {} };
  const app = new App<State>()
    .use(async (ctx) => {
      const consoleGate = { demand() {}, mayLook: () => true };
      ctx.state.host = { ...gateway, consoleGate, events, requestLog } as unknown as Gateway;
      ctx.state.requestId = crypto.randomUUID();
      return secureHeaders(await ctx.next(), false);
    })
    .use(csp({ useNonce: true, csp: CSP_DIRECTIVES }))
    .use(staticFiles())
    .get("/api/events", ({ req }) => {
      const signal = AbortSignal.any([req.signal, closing.signal]);
      const since = req.headers.get("last-event-id") ?? new URL(req.url).searchParams.get("since");
      return events.stream(since, signal, () => []);
    })
    .fsRoutes();
  const root = fromFileUrl(new URL("../../../", import.meta.url));
  await bundleStyles();
  const builder = new Builder({ root, staticDir: STATIC_FOLDERS });
  const applyBuild = await builder.build({ snapshot: "memory" });
  applyBuild(app);
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, app.handler());
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    publish: (type, data) => events.publish(type, data),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await server.shutdown();
    },
  };
}
