import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const admin = await ctx.state.gateway.secrets();
    return Response.json(await admin.list());
  },
});
