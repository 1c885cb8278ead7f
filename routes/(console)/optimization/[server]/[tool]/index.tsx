import { page } from "fresh";
import { Missing } from "../../../../../components/missing.tsx";
import { OptimizationTool } from "../../../../../components/optimization_tool.tsx";
import { define } from "../../../../../lib/console/define.ts";
import { runToolAction, tabOfAction } from "../../../../../lib/console/optimization_actions.ts";
import { leadOn } from "../../../../../lib/console/optimization_problem.ts";
import {
  type ToolOptimizationPage,
  toolOptimizationPage,
} from "../../../../../lib/console/optimization_tool_page.ts";
import type { MissingName } from "../../../../../lib/console/server_page.ts";
import { optimizationPath, pathParts } from "../../../../../lib/console/ui/paths.ts";
import { readForm } from "../../../../../lib/http/read_form.ts";

interface Data {
  found: ToolOptimizationPage | MissingName;
  server: string;
}

export const handler = define.handlers({
  async GET(ctx) {
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const { searchParams: query } = ctx.url;
    const found = await toolOptimizationPage(ctx.state.gateway, { server, tool, query });
    ctx.state.title = "missing" in found ? "Tool not found" : `${tool}: optimization`;
    return page<Data>({ found, server }, { status: "missing" in found ? 404 : 200 });
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const fields = await readForm(ctx.req, gateway.options.options.maxBody);
    const query = new URLSearchParams({ tab: tabOfAction(fields.get("do")) });
    const candidate = fields.get("candidate");
    if (candidate !== null) query.set("candidate", candidate);
    ctx.state.title = `${tool}: optimization`;
    return await leadOn<Data>(
      ctx,
      runToolAction(gateway, { server, tool }, fields, ctx.req.signal),
      async (error) => {
        const refused = { fields, error };
        return {
          found: await toolOptimizationPage(gateway, { server, tool, query, refused }),
          server,
        };
      },
    );
  },
});

export default define.page<typeof handler>(function OptimizeToolRoute({ data, state }) {
  const { found, server } = data;
  if ("missing" in found) {
    return (
      <Missing
        what="tool"
        name={found.missing}
        nearest={found.nearest.map((name) => ({ name, href: optimizationPath(server, name) }))}
        code="TOOL_NOT_FOUND"
        id={state.requestId}
        listHref="/optimization"
      />
    );
  }
  return (
    <div data-live="servers settings tools">
      <OptimizationTool page={found} />
    </div>
  );
});
