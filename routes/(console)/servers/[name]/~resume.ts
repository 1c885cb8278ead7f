import { callOf } from "../../../../lib/console/api.ts";
import { define } from "../../../../lib/console/define.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import { runOperation } from "../../../../lib/operations/operation.ts";
import { SERVER_OPERATIONS } from "../../../../lib/operations/servers.ts";

export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const name = ctx.params.name ?? "";
    const call = callOf(ctx, "console");
    await runOperation(SERVER_OPERATIONS.resume, ctx.state.gateway, { name }, call);
    return ctx.redirect(serverPath(name), 303);
  },
});
