import { runFor } from "../../../lib/console/api.ts";
import { define, formOf } from "../../../lib/console/define.ts";
import { callPath } from "../../../lib/console/ui/pages.ts";
import { TRAFFIC_OPERATIONS } from "../../../lib/operations/traffic.ts";

export const handler = define.handlers({ POST: ["optimize"] }, {
  async POST(ctx) {
    const id = (await formOf(ctx)).get("id") ?? "";
    await runFor(ctx, TRAFFIC_OPERATIONS.mark, { id });
    return ctx.redirect(callPath(id), 303);
  },
});
