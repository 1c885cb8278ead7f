import { page } from "fresh";
import { OptimizationOverview } from "../../../components/optimization_overview.tsx";
import { define } from "../../../lib/console/define.ts";
import { optimizationPage } from "../../../lib/console/optimization_page.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Optimization";
    return page(await optimizationPage(ctx.state.gateway, ctx.url));
  },
});

export default define.page<typeof handler>(function OptimizationRoute({ data, url }) {
  return (
    <div class="stack" data-live="servers settings tools">
      <OptimizationOverview page={data} url={url} />
    </div>
  );
});
