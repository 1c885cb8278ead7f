import { define } from "../../../lib/console/define.ts";
import { JobBody } from "../../../lib/console/optimization_job_form.ts";
import { readJson } from "../(_parts)/read_json.ts";

/** What a job would take, without starting it. */
export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const request = await readJson(ctx.req, JobBody, gateway.options.options.maxBody);
    const { jobs } = await gateway.optimization();
    return Response.json({ estimate: await jobs.estimate({ ...request, by: "person" }) });
  },
});
