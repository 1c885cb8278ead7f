import { define } from "../../../lib/console/define.ts";
import { EVERYONE } from "../../../lib/core/principal.ts";

export const handler = define.handlers({
  async POST(ctx) {
    await ctx.state.gateway.toolsets.toolsets.unequip(EVERYONE);
    return ctx.redirect("/toolsets", 303);
  },
});
