import { askerOf } from "../../../lib/console/asker.ts";
import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({
  async DELETE(ctx) {
    const { accessAdmin } = ctx.state.gateway;
    const revoked = await accessAdmin.revokeToken(ctx.params.id ?? "", askerOf(ctx));
    return Response.json({ revoked });
  },
});
