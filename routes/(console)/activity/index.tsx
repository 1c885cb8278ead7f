import { page } from "fresh";
import { define } from "../../../lib/console/define.ts";
import { Activity } from "./(_components)/activity.tsx";
import { activityPage } from "./(_page)/model.ts";

export const handler = define.handlers({ GET: ["read", "manage"] }, {
  async GET(ctx) {
    ctx.state.title = "Activity";
    return page(await activityPage(ctx.state.gateway, ctx.url.searchParams));
  },
});

export default define.page<typeof handler>(function ActivityRoute({ data, url }) {
  return <Activity page={data} url={url} />;
});
