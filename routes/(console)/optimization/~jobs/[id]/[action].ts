import { callOf } from "../../../../../lib/console/api.ts";
import { define } from "../../../../../lib/console/define.ts";
import { changeJob } from "../../(_page)/actions.ts";
import { jobPath } from "../../../../../lib/console/ui/jobs.ts";

export const handler = define.handlers({ POST: ["manage", "optimize"] }, {
  async POST(ctx) {
    const { id } = await changeJob(ctx.state.gateway, ctx.params, callOf(ctx, "console"));
    return ctx.redirect(jobPath(id), 303);
  },
});
