import { z } from "zod";
import { define } from "../../../../../lib/console/define.ts";
import { jobPath } from "../../../../../lib/console/ui/job_progress.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";

const Action = z.enum(["pause", "resume", "cancel"]);

export const handler = define.handlers({
  async POST(ctx) {
    const action = Action.safeParse(ctx.params.action);
    if (!action.success) throw new GatewayError("NOT_FOUND");
    const { jobs } = await ctx.state.gateway.optimization();
    const { id } = await jobs[action.data](ctx.params.id ?? "");
    return ctx.redirect(jobPath(id), 303);
  },
});
