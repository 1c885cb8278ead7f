import { z } from "zod";
import { define } from "../../../../lib/console/define.ts";
import { readJson } from "../../(_parts)/read_json.ts";

const Selection = z.strictObject({ enabled: z.array(z.string()).nullable() });

export const handler = define.handlers({
  GET(ctx) {
    const server = ctx.params.name ?? "";
    return Response.json({ server, ...ctx.state.gateway.admin.enabledTools(server) });
  },

  async PUT(ctx) {
    const server = ctx.params.name ?? "";
    const { admin, options } = ctx.state.gateway;
    const { enabled } = await readJson(ctx.req, Selection, options.options.maxBody);
    await admin.setEnabledTools(server, enabled);
    return Response.json({ server, ...admin.enabledTools(server) });
  },
});
