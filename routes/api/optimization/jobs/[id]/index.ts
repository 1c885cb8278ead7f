import { define } from "../../../../../lib/console/define.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { jobs } = await ctx.state.gateway.optimization();
    return Response.json({ job: await jobs.get(ctx.params.id ?? "") });
  },
});
