import { define } from "../../../lib/console/define.ts";

/** Whether optimization is on, what evaluates, and how each server's tools stand. */
export const handler = define.handlers({
  async GET(ctx) {
    const admin = await ctx.state.gateway.optimization();
    return Response.json(await admin.overview());
  },
});
