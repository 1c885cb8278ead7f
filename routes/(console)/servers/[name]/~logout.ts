import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import { loginPath } from "../../../../lib/console/ui/login_paths.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const name = ctx.params.name ?? "";
    await (await ctx.state.gateway.serverLogins()).logout(name, askerOf(ctx));
    return ctx.redirect(loginPath(name), 303);
  },
});
