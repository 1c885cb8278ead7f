import { callOf } from "../../../../lib/console/api.ts";
import { define } from "../../../../lib/console/define.ts";
import { CLIENT_OPERATIONS } from "../../../../lib/operations/clients.ts";
import { runOperation } from "../../../../lib/operations/operation.ts";

export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const input = { client: ctx.params.id ?? "" };
    const call = callOf(ctx, "console");
    await runOperation(CLIENT_OPERATIONS.disconnect, ctx.state.gateway, input, call);
    return ctx.redirect("/clients", 303);
  },
});
