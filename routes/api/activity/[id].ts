import { define } from "../../../lib/console/define.ts";
import { GatewayError } from "../../../lib/core/errors.ts";

/** One call, with what was said in it as long as that is remembered. */
export const handler = define.handlers({
  async GET(ctx) {
    const found = await ctx.state.gateway.calls.find(ctx.params.id ?? "");
    if (found) return Response.json(found);
    throw new GatewayError("NOT_FOUND", {
      message: "There is no such call: it may have been cleared away",
      recoveryAction: "List the calls at /api/activity",
    });
  },
});
