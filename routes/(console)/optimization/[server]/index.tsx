import { page } from "fresh";
import { Missing } from "../../../../components/missing.tsx";
import { OptimizationForm } from "../../../../components/optimization_form.tsx";
import { define } from "../../../../lib/console/define.ts";
import {
  type JobFormPage,
  serverFormPage,
  startJob,
} from "../../../../lib/console/optimization_job_form.ts";
import { leadOn } from "../../../../lib/console/optimization_problem.ts";
import type { MissingName } from "../../../../lib/console/server_page.ts";
import { readJobFields } from "../../../../lib/console/ui/job_form.ts";
import { optimizationPath } from "../../../../lib/console/ui/paths.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const server = ctx.params.server ?? "";
    const { searchParams: query } = ctx.url;
    const found = await serverFormPage(ctx.state.gateway, { server, query });
    ctx.state.title = "missing" in found ? "Server not found" : `Optimize ${server}`;
    return page<JobFormPage | MissingName>(found, { status: "missing" in found ? 404 : 200 });
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const server = ctx.params.server ?? "";
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    const written = readJobFields(form, server);
    const { searchParams: query } = ctx.url;
    ctx.state.title = `Optimize ${server}`;
    return await leadOn(
      ctx,
      startJob(gateway, written),
      (error) => serverFormPage(gateway, { server, query, written, error }),
    );
  },
});

export default define.page<typeof handler>(function OptimizeServerRoute({ data, state }) {
  if ("missing" in data) {
    return (
      <Missing
        what="server"
        name={data.missing}
        nearest={data.nearest.map((name) => ({ name, href: optimizationPath(name) }))}
        code="SERVER_NOT_FOUND"
        id={state.requestId}
        listHref="/optimization"
      />
    );
  }
  return (
    <div class="stack" data-live="servers settings tools">
      <OptimizationForm page={data} />
    </div>
  );
});
