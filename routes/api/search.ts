import { define } from "../../lib/console/define.ts";
import { searchTools } from "../../lib/console/tool_search.ts";

/** `?q=&category=&server=&limit=`: tools, the best match first. */
export const handler = define.handlers({
  async GET(ctx) {
    return Response.json(await searchTools(ctx.state.gateway, ctx.url.searchParams));
  },
});
