import { page } from "fresh";
import { JobOptionsList } from "../../(_components)/job_options.tsx";
import { PageHeader } from "../../../../../components/layout.tsx";
import { JobMonitor, OptimizationLive } from "../../(_islands)/optimization.tsx";
import { define } from "../../../../../lib/console/define.ts";
import { TestedTogether } from "../../(_components)/tested_together.tsx";
import { jointViews } from "../../(_page)/joint.ts";
import { jobPage } from "../../(_page)/model.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    const { jobs } = await ctx.state.gateway.optimization();
    const job = await jobs.get(ctx.params.id ?? "");
    const found = jobPage(job);
    ctx.state.title = `Optimization of ${found.job.title}`;
    return page({ ...found, joint: jointViews(job, ctx.state.gateway.promotions) });
  },
});

export default define.page<typeof handler>(function JobRoute({ data }) {
  const { job, lead, options, joint } = data;
  return (
    <div class="stack" data-live="settings">
      <OptimizationLive marks={[job.mark]} />
      <PageHeader
        title="Optimization job"
        lead={lead}
        action={<a class="button" href="/optimization">All tools</a>}
      />
      <JobMonitor job={job} isWhole />
      <TestedTogether job={job} joint={joint} />
      <JobOptionsList options={options} />
    </div>
  );
});
