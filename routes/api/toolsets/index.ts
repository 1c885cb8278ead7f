import { define } from "../../../lib/console/define.ts";
import { WrittenToolset } from "../../../lib/surfaces/toolsets_admin.ts";
import { readJson } from "../(_parts)/read_json.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const admin = ctx.state.gateway.toolsets;
    const all = admin.toolsets.list().map((toolset) => admin.summary(toolset));
    const equipped = admin.toolsets.equippedBy(ctx.state.principal)?.name ?? null;
    return Response.json({ toolsets: await Promise.all(all), equipped });
  },

  async POST(ctx) {
    const { toolsets: admin, options } = ctx.state.gateway;
    const written = await readJson(ctx.req, WrittenToolset, options.options.maxBody);
    const toolset = await admin.detail(await admin.build(written));
    return Response.json({ toolset }, { status: 201 });
  },
});
