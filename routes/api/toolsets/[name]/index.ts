import { define } from "../../../../lib/console/define.ts";
import { WrittenToolset } from "../../../../lib/surfaces/toolsets_admin.ts";
import { readJson } from "../../(_parts)/read_json.ts";

const Changed = WrittenToolset.omit({ name: true, replace: true });

export const handler = define.handlers({
  async GET(ctx) {
    const admin = ctx.state.gateway.toolsets;
    const toolset = admin.toolsets.resolve(ctx.params.name ?? "");
    return Response.json({ toolset: await admin.detail(toolset) });
  },

  async PUT(ctx) {
    const { toolsets: admin, options } = ctx.state.gateway;
    const { name } = admin.toolsets.resolve(ctx.params.name ?? "");
    const written = await readJson(ctx.req, Changed, options.options.maxBody);
    const toolset = await admin.build({ ...written, name, replace: true });
    return Response.json({ toolset: await admin.detail(toolset) });
  },

  async DELETE(ctx) {
    const name = ctx.params.name ?? "";
    await ctx.state.gateway.toolsets.toolsets.remove(name);
    return Response.json({ deleted: name });
  },
});
