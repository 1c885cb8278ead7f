import { page } from "fresh";
import { SecurityOverview } from "../../../components/security_overview.tsx";
import { define } from "../../../lib/console/define.ts";
import { securityOverview } from "../../../lib/console/security_overview.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Security";
    return page(await securityOverview(ctx.state.gateway, ctx.state.principal, ctx.req));
  },
});

export default define.page<typeof handler>(function SecurityRoute({ data }) {
  return (
    <div class="stack" data-live="settings sessions servers tools">
      <SecurityOverview overview={data} />
    </div>
  );
});
