import { page } from "fresh";
import { Toolsets } from "../../../components/toolsets.tsx";
import { define } from "../../../lib/console/define.ts";
import { toolsetsPage } from "../../../lib/console/toolsets_page.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Toolsets";
    return page(await toolsetsPage(ctx.state.gateway));
  },
});

export default define.page<typeof handler>(function ToolsetsRoute({ data }) {
  return (
    <div class="stack" data-live="servers">
      <Toolsets page={data} />
    </div>
  );
});
