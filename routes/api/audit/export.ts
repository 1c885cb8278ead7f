import { define } from "../../../lib/console/define.ts";
import { exportAudit } from "../../../lib/console/security_audit.ts";

export const handler = define.handlers({
  GET(ctx) {
    return exportAudit(ctx.state.gateway, ctx.url.searchParams);
  },
});
