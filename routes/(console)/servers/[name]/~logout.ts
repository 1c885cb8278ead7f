import { callOf } from "../../../../lib/console/api.ts";
import { define } from "../../../../lib/console/define.ts";
import { runOperation } from "../../../../lib/operations/operation.ts";
import { LOGIN_OPERATIONS } from "../../../../lib/operations/server_logins.ts";
import { loginPath } from "./(_page)/login.ts";

export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const name = ctx.params.name ?? "";
    const call = callOf(ctx, "console");
    await runOperation(LOGIN_OPERATIONS.logout, ctx.state.gateway, { name }, call);
    return ctx.redirect(loginPath(name), 303);
  },
});
