import { callOf } from "../../../../lib/console/api.ts";
import { page } from "fresh";
import { Missing } from "../../../../components/states.tsx";
import { OptimizationForm } from "../(_components)/job_form.tsx";
import { define, formOf } from "../../../../lib/console/define.ts";
import { jobFormPage, submitJob } from "../(_page)/job_form.ts";
import { readJobFields } from "../(_page)/browser.ts";
import { optimizationPath, OPTIMIZE_ALL } from "../../../../lib/console/ui/pages.ts";
import { submitForm } from "../../../../lib/console/errors.ts";

/** The server that the form is about; undefined: all of them. */
function serverOf({ url, params }: { url: URL; params: Record<string, string> }) {
  return url.pathname === OPTIMIZE_ALL ? undefined : params.server ?? "";
}

function titleOf(server: string | undefined): string {
  return `Optimize ${server ?? "all servers"}`;
}

export const handler = define.handlers({ GET: ["read"], POST: ["manage", "optimize"] }, {
  async GET(ctx) {
    const server = serverOf(ctx);
    const { searchParams: query } = ctx.url;
    const found = await jobFormPage(ctx.state.gateway, { server, query });
    ctx.state.title = "missing" in found ? "Server not found" : titleOf(server);
    return page(found, { status: "missing" in found ? 404 : 200 });
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const server = serverOf(ctx);
    const written = readJobFields(await formOf(ctx), server);
    const { searchParams: query } = ctx.url;
    ctx.state.title = titleOf(server);
    return await submitForm(
      ctx,
      () => submitJob(gateway, written, callOf(ctx, "console")),
      (error) => jobFormPage(gateway, { server, query, written, error }),
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
