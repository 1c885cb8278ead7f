import { define } from "../../../lib/console/define.ts";
import { readEntry } from "../(_parts)/server_entry.ts";

export const handler = define.handlers({
  GET(ctx) {
    return Response.json({ servers: ctx.state.gateway.admin.list() });
  },

  async POST(ctx) {
    const { name, spec } = await readEntry(ctx);
    const server = await ctx.state.gateway.admin.add(name ?? "", spec);
    return Response.json({ server }, { status: 201 });
  },
});
