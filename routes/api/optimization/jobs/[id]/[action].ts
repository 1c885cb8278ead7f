import { define } from "../../../../../lib/console/define.ts";
import { changeJob } from "../../../../../lib/console/optimization_actions.ts";

export const handler = define.handlers({
  async POST(ctx) {
    return Response.json({ job: await changeJob(ctx.state.gateway, ctx.params) });
  },
});
