import { z } from "zod";
import { define } from "../../../lib/console/define.ts";
import { readJson } from "../(_parts)/read_json.ts";

const Switch = z.strictObject({ enabled: z.boolean() });

export const handler = define.handlers({
  async PUT(ctx) {
    const { gateway } = ctx.state;
    const { enabled } = await readJson(ctx.req, Switch, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    await admin.setEnabled(enabled);
    return Response.json({ enabled: admin.enabled });
  },
});
