import { callOf } from "../../../lib/console/api.ts";
import { define, formOf } from "../../../lib/console/define.ts";
import { serverPath } from "../../../lib/console/ui/pages.ts";
import { runOperation } from "../../../lib/operations/operation.ts";
import { SERVER_OPERATIONS } from "../../../lib/operations/servers.ts";

/** Undoes a removal. */
export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const undo = (await formOf(ctx)).get("id") ?? "";
    const call = callOf(ctx, "console");
    const { restore } = SERVER_OPERATIONS;
    const { server } = await runOperation(restore, ctx.state.gateway, { undo }, call);
    return ctx.redirect(serverPath(server.name), 303);
  },
});
