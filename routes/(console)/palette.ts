import { define } from "../../lib/console/define.ts";
import { paletteIndex } from "../../lib/console/frame.ts";

/** What the command palette fetches when it is first opened. */
export const handler = define.handlers({ GET: ["read"] }, {
  GET(ctx) {
    return Response.json(paletteIndex(ctx.state.gateway, ctx.state.principal), {
      headers: { "cache-control": "no-store" },
    });
  },
});
