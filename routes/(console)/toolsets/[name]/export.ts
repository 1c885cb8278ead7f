import { define } from "../../../../lib/console/define.ts";
import { exportResponse } from "../../../../lib/console/toolset_exchange.ts";

export const handler = define.handlers({
  GET: (ctx) => exportResponse(ctx.state.gateway, ctx.params.name),
});
