import { runFor } from "../../../../lib/console/api.ts";
import { define } from "../../../../lib/console/define.ts";
import { TOOLSET_OPERATIONS } from "../../../../lib/operations/toolsets.ts";

export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    await runFor(ctx, TOOLSET_OPERATIONS.remove, { name: ctx.params.name ?? "" });
    return ctx.redirect("/toolsets", 303);
  },
});
