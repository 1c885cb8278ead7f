import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({
  async POST(ctx) {
    await ctx.state.gateway.clearCalls();
    return ctx.redirect("/activity", 303);
  },
});
