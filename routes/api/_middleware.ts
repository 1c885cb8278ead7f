import { define } from "../../lib/console/define.ts";
import { GatewayError } from "../../lib/core/errors.ts";
import { errorResponse } from "../../lib/http/handle_request.ts";

export default define.middleware(async (ctx) => {
  try {
    const { method, headers } = ctx.req;
    const isReading = method === "GET" || method === "HEAD";
    // What a plain form of another site can send is never JSON, whatever else it may forge.
    if (!isReading && !/^application\/json\b/i.test(headers.get("content-type") ?? "")) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "The content type must be application/json",
      });
    }
    const response = await ctx.next();
    response.headers.set("cache-control", "no-store");
    return response;
  } catch (error) {
    // Anything else is logged further out, before it is answered.
    if (!(error instanceof GatewayError)) throw error;
    const response = errorResponse(error, ctx.state.requestId);
    if (error.code === "INSUFFICIENT_SCOPE") {
      const challenge = ctx.state.host.access.challenge(ctx.req, error);
      response.headers.set("www-authenticate", challenge);
    }
    return response;
  }
});
