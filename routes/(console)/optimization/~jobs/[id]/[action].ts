import { define } from "../../../../../lib/console/define.ts";
import { changeJob } from "../../../../../lib/console/optimization_actions.ts";
import { jobPath } from "../../../../../lib/console/ui/job_progress.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { id } = await changeJob(ctx.state.gateway, ctx.params);
    return ctx.redirect(jobPath(id), 303);
  },
});
