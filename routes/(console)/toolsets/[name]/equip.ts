import { define } from "../../../../lib/console/define.ts";
import { toolsetPath } from "../../../../lib/console/ui/paths.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { toolsets } = ctx.state.gateway.toolsets;
    const { name } = await toolsets.equip(ctx.state.principal, ctx.params.name ?? "");
    return ctx.redirect(toolsetPath(name), 303);
  },
});
