import { page } from "fresh";
import { JobOptionsList } from "../../(_components)/job_options.tsx";
import { PageHeader } from "../../../../../components/layout.tsx";
import { JobMonitor, OptimizationLive } from "../../(_islands)/optimization.tsx";
import { define } from "../../../../../lib/console/define.ts";
import { jobPage } from "../../(_page)/model.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    const { jobs } = await ctx.state.gateway.optimization();
    const found = jobPage(await jobs.get(ctx.params.id ?? ""));
    ctx.state.title = `Optimization of ${found.job.title}`;
    return page(found);
  },
});

export default define.page<typeof handler>(function JobRoute({ data: { job, lead, options } }) {
  return (
    <div class="stack" data-live="settings">
      <OptimizationLive marks={[job.mark]} />
      <PageHeader
        title="Optimization job"
        lead={lead}
        action={<a class="button" href="/optimization">All tools</a>}
      />
      <JobMonitor job={job} isWhole />
      <JobOptionsList options={options} />
    </div>
  );
});
