import { runFor } from "../../../../lib/console/api.ts";
import { define } from "../../../../lib/console/define.ts";
import { toolsetPath } from "../../../../lib/console/ui/pages.ts";
import { TOOLSET_OPERATIONS } from "../../../../lib/operations/toolsets.ts";

export const handler = define.handlers({ POST: ["read"] }, {
  async POST(ctx) {
    const { name = "" } = ctx.params;
    const { equipped } = await runFor(ctx, TOOLSET_OPERATIONS.equip, { name });
    return ctx.redirect(toolsetPath(equipped), 303);
  },
});
