import { define } from "../../../lib/console/define.ts";
import { GatewayError } from "../../../lib/core/errors.ts";
import { privateWords } from "../../../lib/surfaces/chosen_address.ts";
import { readEntry } from "../(_parts)/server_entry.ts";

export const handler = define.handlers({
  GET(ctx) {
    return Response.json({ servers: ctx.state.gateway.admin.list() });
  },

  async POST(ctx) {
    const { name, spec, by } = await readEntry(ctx);
    const check = ctx.url.searchParams.get("check") !== "false";
    if (!check && !by.isHere) {
      throw new GatewayError("ACCESS_DENIED", {
        message: "A server is only stored unchecked from the gateway's own machine",
      });
    }
    const server = await ctx.state.gateway.admin.add(name ?? "", spec, { check, by });
    const place = await privateWords(spec);
    // Whoever typed such an address is told what was allowed by that.
    return Response.json({ server, ...(place === undefined ? {} : { place }) }, { status: 201 });
  },
});
