import { callOf } from "../../../lib/console/api.ts";
import { page } from "fresh";
import { OptimizationForm } from "./(_components)/job_form.tsx";
import { define, formOf } from "../../../lib/console/define.ts";
import { jobFormPage, submitJob } from "./(_page)/job_form.ts";
import { readJobFields } from "./(_page)/browser.ts";
import { submitForm } from "../../../lib/console/errors.ts";

const TITLE = "Optimize all servers";

export const handler = define.handlers({ GET: ["read"], POST: ["manage", "optimize"] }, {
  async GET(ctx) {
    ctx.state.title = TITLE;
    return page(await jobFormPage(ctx.state.gateway, { query: ctx.url.searchParams }));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const written = readJobFields(await formOf(ctx));
    const { searchParams: query } = ctx.url;
    ctx.state.title = TITLE;
    return await submitForm(
      ctx,
      () => submitJob(gateway, written, callOf(ctx, "console")),
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
