import { z } from "zod";
import { serverHistory } from "../../../../lib/catalog/tool_history.ts";
import { define } from "../../../../lib/console/define.ts";
import { fit } from "../../(_parts)/read_json.ts";

const Query = z.object({
  /** One tool alone. */
  tool: z.string().optional(),
  /** For how many changes, from the newest on, to tell what changed. */
  diffs: z.coerce.number().int().min(0).max(1_000).default(200),
});

export const handler = define.handlers({
  async GET(ctx) {
    const { tool, diffs } = fit(Query, Object.fromEntries(ctx.url.searchParams));
    const server = ctx.params.name ?? "";
    const kept = await ctx.state.gateway.admin.history(server, tool);
    return Response.json(serverHistory(server, kept, diffs));
  },
});
