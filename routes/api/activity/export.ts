import { exportActivity } from "../../../lib/console/activity_export.ts";
import { define } from "../../../lib/console/define.ts";

/** `?format=csv|ndjson` with the filters of the list: all calls, as a file. */
export const handler = define.handlers({
  GET: (ctx) => exportActivity(ctx.state.gateway, ctx.url.searchParams),
});
