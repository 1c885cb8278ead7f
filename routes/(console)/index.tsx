import { page } from "fresh";
import { Dashboard } from "../../components/dashboard.tsx";
import { PageHeader } from "../../components/page_header.tsx";
import { dashboardPage } from "../../lib/console/dashboard_page.ts";
import { define } from "../../lib/console/define.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Dashboard";
    return page(await dashboardPage(ctx.state.gateway, ctx.url.searchParams, ctx.state.principal));
  },
});

export default define.page<typeof handler>(function DashboardRoute({ data }) {
  return (
    <div class="stack" data-live="servers calls sessions toolsets optimization settings">
      <PageHeader title="Dashboard" />
      <Dashboard page={data} />
    </div>
  );
});
