import { define } from "../../../lib/console/define.ts";

/** The calls that wait for a person. */
export const handler = define.handlers({
  async GET(ctx) {
    return Response.json({ calls: (await ctx.state.gateway.approvals()).list() });
  },
});
