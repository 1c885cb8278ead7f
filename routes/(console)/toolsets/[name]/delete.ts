import { define } from "../../../../lib/console/define.ts";

export const handler = define.handlers({
  async POST(ctx) {
    await ctx.state.gateway.toolsets.toolsets.remove(ctx.params.name ?? "");
    return ctx.redirect("/toolsets", 303);
  },
});
