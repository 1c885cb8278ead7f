import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({
  async GET(ctx) {
    return Response.json({ projects: await ctx.state.gateway.accessAdmin.projects() });
  },
});
