import { z } from "zod";
import { define } from "../../../../../../lib/console/define.ts";
import { namedTool } from "../../../../(_parts)/named_tool.ts";
import { fit } from "../../../../(_parts)/read_json.ts";

const Query = z.object({ candidateId: z.string().exactOptional() });

/** `?candidateId=`: metrics and runs of one description, of all without. */
export const handler = define.handlers({
  async GET(ctx) {
    const { server, tool } = namedTool(ctx.url);
    const query = fit(Query, Object.fromEntries(ctx.url.searchParams));
    const admin = await ctx.state.gateway.optimization();
    return Response.json({ candidates: await admin.results({ server, tool, ...query }) });
  },
});
