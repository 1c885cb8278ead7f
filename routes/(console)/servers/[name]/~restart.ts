import { restartSoon } from "../../../../lib/console/actions.ts";
import { define } from "../../../../lib/console/define.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";

export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const name = ctx.params.name ?? "";
    await restartSoon(ctx.state.gateway, name);
    return ctx.redirect(serverPath(name), 303);
  },
});
