import { define } from "../../../../lib/console/define.ts";
import { EVERYONE } from "../../../../lib/core/principal.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const admin = ctx.state.gateway.toolsets;
    const toolset = await admin.toolsets.equip(EVERYONE, ctx.params.name ?? "");
    return Response.json({ toolset: await admin.detail(toolset) });
  },
});
