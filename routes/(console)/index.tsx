import { page } from "fresh";
import { Dashboard } from "../../components/dashboard.tsx";
import { PageHeader } from "../../components/page_header.tsx";
import { dashboardPage } from "../../lib/console/dashboard_page.ts";
import { define } from "../../lib/console/define.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Dashboard";
    return page(dashboardPage(ctx.state.gateway));
  },
});

export default define.page<typeof handler>(function DashboardRoute({ data }) {
  return (
    <div class="stack" data-live="servers">
      <PageHeader title="Dashboard" />
      <Dashboard page={data} />
    </div>
  );
});
