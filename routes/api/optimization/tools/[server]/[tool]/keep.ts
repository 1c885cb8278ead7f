import { define } from "../../../../../../lib/console/define.ts";
import { namedTool } from "../../../../(_parts)/named_tool.ts";

/** A promotion stays, though the server's own description has changed. */
export const handler = define.handlers({
  async POST(ctx) {
    const { server, tool } = namedTool(ctx.url);
    const admin = await ctx.state.gateway.optimization();
    return Response.json({ promotion: await admin.keep(server, tool) });
  },
});
