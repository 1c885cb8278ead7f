import { define } from "../../../lib/console/define.ts";
import { GatewayError } from "../../../lib/core/errors.ts";
import { isFromHere } from "../../../lib/http/from_here.ts";
import { readEntry } from "../(_parts)/server_entry.ts";

export const handler = define.handlers({
  GET(ctx) {
    return Response.json({ servers: ctx.state.gateway.admin.list() });
  },

  async POST(ctx) {
    const { name, spec } = await readEntry(ctx);
    const { admin, options } = ctx.state.gateway;
    const check = ctx.url.searchParams.get("check") !== "false";
    if (!check && !isFromHere(ctx, options.options.host)) {
      throw new GatewayError("ACCESS_DENIED", {
        message: "A server is only stored unchecked from the gateway's own machine",
      });
    }
    const server = await admin.add(name ?? "", spec, { check });
    return Response.json({ server }, { status: 201 });
  },
});
