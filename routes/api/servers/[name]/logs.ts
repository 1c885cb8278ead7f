import { z } from "zod";
import { define } from "../../../../lib/console/define.ts";
import { fit } from "../../(_parts)/read_json.ts";

const Query = z.object({ lines: z.coerce.number().int().min(1).max(1_000).default(100) });

export const handler = define.handlers({
  GET(ctx) {
    const { lines } = fit(Query, Object.fromEntries(ctx.url.searchParams));
    return Response.json({ lines: ctx.state.gateway.admin.logs(ctx.params.name ?? "", lines) });
  },
});
