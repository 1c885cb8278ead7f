import { define } from "../../../lib/console/define.ts";
import { listAudit } from "../../../lib/console/security_audit.ts";

/** Read only: what was noted is changed by nobody. */
export const handler = define.handlers({
  async GET(ctx) {
    return Response.json(await listAudit(ctx.state.gateway, ctx.url.searchParams));
  },
});
