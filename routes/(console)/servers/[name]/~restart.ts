import { define } from "../../../../lib/console/define.ts";
import { restartSoon } from "../../../../lib/console/restart_soon.ts";
import { serverPath } from "../../../../lib/console/ui/paths.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const name = ctx.params.name ?? "";
    await restartSoon(ctx.state.gateway, name);
    return ctx.redirect(serverPath(name), 303);
  },
});
