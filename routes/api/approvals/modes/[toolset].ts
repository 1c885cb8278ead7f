import { z } from "zod";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import { decideApproval } from "../../../../lib/console/security_approvals.ts";
import { CallMode } from "../../../../lib/core/server.ts";
import { readJson } from "../../(_parts)/read_json.ts";

const Wanted = z.strictObject({ mode: CallMode });

/** Which calls are let through a toolset. */
export const handler = define.handlers({
  async PUT(ctx) {
    const { gateway } = ctx.state;
    const { mode } = await readJson(ctx.req, Wanted, gateway.options.options.maxBody);
    const action = { action: "mode" as const, toolset: ctx.params.toolset ?? "", mode };
    return Response.json({ done: await decideApproval(gateway, action, askerOf(ctx)) });
  },
});
