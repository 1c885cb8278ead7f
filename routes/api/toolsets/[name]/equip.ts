import { define } from "../../../../lib/console/define.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const admin = ctx.state.gateway.toolsets;
    const toolset = await admin.toolsets.equip(ctx.state.principal, ctx.params.name ?? "");
    return Response.json({ toolset: await admin.detail(toolset) });
  },
});
