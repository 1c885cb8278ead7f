import { listCalls } from "../../../lib/console/activity_page.ts";
import { define } from "../../../lib/console/define.ts";

/** `?server=&tool=&client=&door=&status=&text=&before=&after=&limit=`: calls, the newest first. */
export const handler = define.handlers({
  async GET(ctx) {
    return Response.json(await listCalls(ctx.state.gateway, ctx.url.searchParams));
  },
});
