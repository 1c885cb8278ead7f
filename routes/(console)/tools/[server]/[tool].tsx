import { page } from "fresh";
import { Missing } from "../../../../components/missing.tsx";
import { ToolDetail } from "../../../../components/tool_detail.tsx";
import { define } from "../../../../lib/console/define.ts";
import { toolPage } from "../../../../lib/console/tool_page.ts";
import { saveToolWords } from "../../../../lib/console/tool_words.ts";
import { pathParts, toolPath } from "../../../../lib/console/ui/paths.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const found = await toolPage(ctx.state.gateway, server, tool);
    ctx.state.title = "missing" in found ? "Tool not found" : tool;
    return page({ found, server }, { status: "missing" in found ? 404 : 200 });
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    await saveToolWords(gateway, server, tool, form);
    return ctx.redirect(toolPath(server, tool), 303);
  },
});

export default define.page<typeof handler>(function ToolRoute({ data, state }) {
  const { found, server } = data;
  if ("missing" in found) {
    return (
      <Missing
        what="tool"
        name={found.missing}
        nearest={found.nearest.map((name) => ({ name, href: toolPath(server, name) }))}
        code="TOOL_NOT_FOUND"
        id={state.requestId}
        listHref="/tools"
      />
    );
  }
  return (
    <div data-live="servers">
      <ToolDetail page={found} />
    </div>
  );
});
