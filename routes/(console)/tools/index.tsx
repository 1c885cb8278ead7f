import { page } from "fresh";
import { Tools } from "../../../components/tools.tsx";
import { define } from "../../../lib/console/define.ts";
import { toolsPage } from "../../../lib/console/tools_page.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Tools";
    return page(await toolsPage(ctx.state.gateway, ctx.url.searchParams));
  },
});

export default define.page<typeof handler>(function ToolsRoute({ data, url }) {
  return (
    <div class="stack" data-live="servers tools">
      <Tools page={data} url={url} />
    </div>
  );
});
