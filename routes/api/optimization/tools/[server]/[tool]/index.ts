import { define } from "../../../../../../lib/console/define.ts";
import { namedTool } from "../../../../(_parts)/named_tool.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { server, tool } = namedTool(ctx.url);
    const admin = await ctx.state.gateway.optimization();
    return Response.json({ tool: await admin.detail(server, tool) });
  },
});
