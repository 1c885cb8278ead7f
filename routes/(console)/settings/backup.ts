import { define } from "../../../lib/console/define.ts";
import { backupResponse } from "../../../lib/console/settings_data.ts";

export const handler = define.handlers({
  GET: (ctx) => backupResponse(ctx.state.gateway),
});
