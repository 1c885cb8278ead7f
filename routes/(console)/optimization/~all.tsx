import { page } from "fresh";
import { OptimizationForm } from "../../../components/optimization_form.tsx";
import { define } from "../../../lib/console/define.ts";
import { isTold } from "../../../lib/console/optimization_problem.ts";
import { jobFormPage, startJob } from "../../../lib/console/optimization_job_form.ts";
import { readJobFields } from "../../../lib/console/ui/job_form.ts";
import { jobPath } from "../../../lib/console/ui/job_progress.ts";
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
    try {
      const { id } = await startJob(gateway, written);
      return ctx.redirect(jobPath(id), 303);
    } catch (error) {
      if (!isTold(error)) throw error;
      ctx.state.title = TITLE;
      const form = await jobFormPage(gateway, { query: ctx.url.searchParams, written, error });
      return page(form, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function OptimizeAllRoute({ data }) {
  return (
    <div class="stack" data-live="servers settings tools">
      <OptimizationForm page={data} />
    </div>
  );
});
