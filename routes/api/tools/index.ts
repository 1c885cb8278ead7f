import { define } from "../../../lib/console/define.ts";
import type { ToolListing } from "../../../lib/operations/server_reads.ts";

/** Every tool of every server, those that are off too, and what their names depend on. */
export const handler = define.handlers({
  GET(ctx) {
    const { servers, options: { options: { maxNameLength } } } = ctx.state.gateway;
    return Response.json({ tools: servers.allTools(), maxNameLength } satisfies ToolListing);
  },
});
