import { callOf } from "../../../../lib/console/api.ts";
import { define } from "../../../../lib/console/define.ts";
import { runOperation } from "../../../../lib/operations/operation.ts";
import { SERVER_OPERATIONS } from "../../../../lib/operations/servers.ts";

export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const name = ctx.params.name ?? "";
    const call = callOf(ctx, "console");
    const { remove } = SERVER_OPERATIONS;
    const { undo } = await runOperation(remove, ctx.state.gateway, { name }, call);
    return ctx.redirect(undo === undefined ? "/servers" : `/servers?removed=${undo}`, 303);
  },
});
