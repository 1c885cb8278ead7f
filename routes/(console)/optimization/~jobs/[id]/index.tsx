import { page } from "fresh";
import { PageHeader } from "../../../../../components/page_header.tsx";
import JobMonitor from "../../../../../islands/job_monitor.tsx";
import OptimizationLive from "../../../../../islands/optimization_live.tsx";
import { define } from "../../../../../lib/console/define.ts";
import { jobProgress } from "../../../../../lib/console/ui/job_progress.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { jobs } = await ctx.state.gateway.optimization();
    const job = jobProgress(await jobs.get(ctx.params.id ?? ""));
    ctx.state.title = `Optimization of ${job.title}`;
    return page(job);
  },
});

export default define.page<typeof handler>(function JobRoute({ data }) {
  return (
    <div class="stack" data-live="settings">
      <OptimizationLive marks={[data.mark]} />
      <PageHeader
        title="Optimization job"
        lead="It goes on when this page is closed, and after a restart of the gateway"
        action={<a class="button" href="/optimization">All tools</a>}
      />
      <JobMonitor job={data} isWhole />
    </div>
  );
});
