import { callOf } from "../../../../lib/console/api.ts";
import { page } from "fresh";
import { Missing } from "../../../../components/states.tsx";
import { OptimizationForm } from "../(_components)/job_form.tsx";
import { define, formOf } from "../../../../lib/console/define.ts";
import { type JobFormPage, serverFormPage, submitJob } from "../(_page)/job_form.ts";
import type { MissingName } from "../../../../lib/console/lists.ts";
import { readJobFields } from "../(_page)/browser.ts";
import { optimizationPath } from "../../../../lib/console/ui/pages.ts";
import { submitForm } from "../../../../lib/console/errors.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage", "optimize"] }, {
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
    const form = await formOf(ctx);
    const written = readJobFields(form, server);
    const { searchParams: query } = ctx.url;
    ctx.state.title = `Optimize ${server}`;
    return await submitForm(
      ctx,
      () => submitJob(gateway, written, callOf(ctx, "console")),
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
