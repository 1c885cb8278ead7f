import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({
  async POST(ctx) {
    await ctx.state.gateway.toolsets.toolsets.unequip(ctx.state.principal);
    return ctx.redirect("/toolsets", 303);
  },
});
