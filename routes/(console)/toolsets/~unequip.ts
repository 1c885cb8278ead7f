import { runFor } from "../../../lib/console/api.ts";
import { define } from "../../../lib/console/define.ts";
import { TOOLSET_OPERATIONS } from "../../../lib/operations/toolsets.ts";

export const handler = define.handlers({ POST: ["read"] }, {
  async POST(ctx) {
    await runFor(ctx, TOOLSET_OPERATIONS.unequip, {});
    return ctx.redirect("/toolsets", 303);
  },
});
