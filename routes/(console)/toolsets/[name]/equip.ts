import { define } from "../../../../lib/console/define.ts";
import { toolsetPath } from "../../../../lib/console/ui/paths.ts";
import { EVERYONE } from "../../../../lib/core/principal.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { toolsets } = ctx.state.gateway.toolsets;
    const { name } = await toolsets.equip(EVERYONE, ctx.params.name ?? "");
    return ctx.redirect(toolsetPath(name), 303);
  },
});
