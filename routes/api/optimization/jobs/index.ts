import { z } from "zod";
import { define } from "../../../../lib/console/define.ts";
import { JobBody } from "../../../../lib/console/optimization_job_form.ts";
import { fit, readJson } from "../../(_parts)/read_json.ts";

const Query = z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(50) });

export const handler = define.handlers({
  async GET(ctx) {
    const { limit } = fit(Query, Object.fromEntries(ctx.url.searchParams));
    const { jobs } = await ctx.state.gateway.optimization();
    return Response.json({ jobs: await jobs.list(limit) });
  },

  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const request = await readJson(ctx.req, JobBody, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    const wanted = admin.withinRights(principal, { ...request, by: "person" });
    const job = await admin.jobs.start(wanted);
    return Response.json({ job }, { status: 201 });
  },
});
