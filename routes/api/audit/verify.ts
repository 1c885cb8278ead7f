import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({
  async GET(ctx) {
    return Response.json(await (await ctx.state.gateway.audit.reader()).verify());
  },
});
