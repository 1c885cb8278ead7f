import { define } from "../../../lib/console/define.ts";
import { consentsPage } from "../../../lib/console/security_consents.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { consents } = await consentsPage(ctx.state.gateway, serverAsker(ctx, "api"));
    return Response.json({ consents });
  },
});
