import { define } from "../../../../lib/console/define.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const server = await ctx.state.gateway.admin.restart(ctx.params.name ?? "");
    return Response.json({ server });
  },
});
