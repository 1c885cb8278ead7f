import { define } from "../../../lib/console/define.ts";
import { GatewayError } from "../../../lib/core/errors.ts";
import { errorResponse } from "../../../lib/http/handle_request.ts";

/** What this gateway says of itself to authorization servers that look it up. */
export const handler = define.handlers("anyone", {
  async GET(ctx) {
    const document = await ctx.state.gateway.clientDocument();
    if (document !== undefined) return Response.json(document);
    return errorResponse(new GatewayError("NOT_FOUND"), ctx.state.requestId);
  },
});
