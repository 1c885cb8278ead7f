import { page } from "fresh";
import { Missing } from "../../../../components/missing.tsx";
import { ToolDetail } from "../../../../components/tool_detail.tsx";
import { KeptBackTool, UnlistedTool } from "../../../../components/unlisted_tool.tsx";
import { define } from "../../../../lib/console/define.ts";
import { toolPage } from "../../../../lib/console/tool_page.ts";
import { tryFromForm } from "../../../../lib/console/tried_tool.ts";
import { formError } from "../../../../lib/console/form_error.ts";
import {
  readToolWords,
  type RefusedWords,
  saveToolWords,
} from "../../../../lib/console/tool_words.ts";
import { pathParts, toolPath } from "../../../../lib/console/ui/paths.ts";
import type { TriedTool } from "../../../../lib/console/ui/try_outcome.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

interface ToolData {
  found: Awaited<ReturnType<typeof toolPage>>;
  server: string;
  /** What came of a call that was made without scripts. */
  tried?: TriedTool;
  /** What was written of it and could not be saved. */
  refused?: RefusedWords;
}

export const handler = define.handlers({
  async GET(ctx) {
    const { gateway, principal } = ctx.state;
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const found = await toolPage(gateway, server, tool, principal);
    ctx.state.title = "missing" in found ? "Tool not found" : tool;
    const data: ToolData = { found, server };
    return page(data, { status: "missing" in found ? 404 : 200 });
  },

  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    if (form.has("try")) {
      const { signal } = ctx.req;
      const tried = await tryFromForm(gateway, { server, tool, principal, signal }, form);
      ctx.state.title = tool;
      const found = await toolPage(gateway, server, tool, principal);
      const data: ToolData = { found, server, tried };
      return page(data);
    }
    try {
      await saveToolWords(gateway, server, tool, form);
      return ctx.redirect(toolPath(server, tool), 303);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
      const found = await toolPage(gateway, server, tool, principal);
      ctx.state.title = "missing" in found ? "Tool not found" : tool;
      const refused = { written: readToolWords(form), error: formError(error) };
      const data: ToolData = { found, server, refused };
      return page(data, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function ToolRoute({ data, state }) {
  const { found, server, tried, refused } = data;
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
    <div data-live="servers tools">
      {"unlisted" in found
        ? <UnlistedTool server={found.server} tool={found.unlisted} />
        : "keptBack" in found
        ? <KeptBackTool page={found} />
        : <ToolDetail page={found} tried={tried} refused={refused} />}
    </div>
  );
});
