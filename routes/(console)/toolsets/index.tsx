import { page } from "fresh";
import { Toolsets } from "../../../components/toolsets.tsx";
import { define } from "../../../lib/console/define.ts";
import { toolsetsPage } from "../../../lib/console/toolsets_page.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Toolsets";
    return page(toolsetsPage(ctx.state.gateway, ctx.url.searchParams, ctx.state.principal));
  },
});

export default define.page<typeof handler>(function ToolsetsRoute({ data, url }) {
  return (
    <div class="stack" data-live="servers toolsets sessions">
      <Toolsets page={data} url={url} />
    </div>
  );
});
