import { define } from "../../lib/console/define.ts";

/** The toolset that is equipped. */
export const handler = define.handlers({
  async GET(ctx) {
    const admin = ctx.state.gateway.toolsets;
    const toolset = admin.toolsets.equippedBy(ctx.state.principal);
    return Response.json({ toolset: toolset ? await admin.detail(toolset) : null });
  },

  async DELETE(ctx) {
    const unequipped = await ctx.state.gateway.toolsets.toolsets.unequip(ctx.state.principal);
    return Response.json({ unequipped: unequipped ?? null });
  },
});
