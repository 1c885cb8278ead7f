import { page } from "fresh";
import { JobOptionsList } from "../../../../../components/job_options.tsx";
import { PageHeader } from "../../../../../components/page_header.tsx";
import JobMonitor from "../../../../../islands/job_monitor.tsx";
import OptimizationLive from "../../../../../islands/optimization_live.tsx";
import { define } from "../../../../../lib/console/define.ts";
import { jobPage } from "../../../../../lib/console/optimization_page_job.ts";

export const handler = define.handlers({
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
