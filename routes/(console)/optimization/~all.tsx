import { page } from "fresh";
import { OptimizationForm } from "../../../components/optimization_form.tsx";
import { define } from "../../../lib/console/define.ts";
import { jobFormPage, startJob } from "../../../lib/console/optimization_job_form.ts";
import { leadOn } from "../../../lib/console/optimization_problem.ts";
import { readJobFields } from "../../../lib/console/ui/job_form.ts";
import { readForm } from "../../../lib/http/read_form.ts";

const TITLE = "Optimize all servers";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = TITLE;
    return page(await jobFormPage(ctx.state.gateway, { query: ctx.url.searchParams }));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const written = readJobFields(await readForm(ctx.req, gateway.options.options.maxBody));
    const { searchParams: query } = ctx.url;
    ctx.state.title = TITLE;
    return await leadOn(
      ctx,
      startJob(gateway, written),
      (error) => jobFormPage(gateway, { query, written, error }),
    );
  },
});

export default define.page<typeof handler>(function OptimizeAllRoute({ data }) {
  return (
    <div class="stack" data-live="servers settings tools">
      <OptimizationForm page={data} />
    </div>
  );
});
