import { callOf } from "../../../lib/console/api.ts";
import { define } from "../../../lib/console/define.ts";
import { ACTIVITY_OPERATIONS } from "../../../lib/operations/activity.ts";
import { runOperation } from "../../../lib/operations/operation.ts";

export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const { gateway } = ctx.state;
    await runOperation(ACTIVITY_OPERATIONS.clear, gateway, {}, callOf(ctx, "console"));
    return ctx.redirect("/activity", 303);
  },
});
