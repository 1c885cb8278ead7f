import { define } from "../../lib/console/define.ts";
import { pickTools } from "../(console)/toolsets/(_page)/editor.ts";

/** `?q=&server=&category=&all=`: tools for a toolset, by words, pattern or filter. */
export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    return Response.json(await pickTools(ctx.state.gateway, ctx.url.searchParams));
  },
});
