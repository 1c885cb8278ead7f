import { z } from "zod";
import { askerOf } from "../../../lib/console/asker.ts";
import { define } from "../../../lib/console/define.ts";
import { decideApproval, readApprovalAction } from "../../../lib/console/security_approvals.ts";
import { readJson } from "../(_parts)/read_json.ts";

const Decision = z.strictObject({ decision: z.enum(["approve", "deny", "always"]) });

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { decision } = await readJson(ctx.req, Decision, gateway.options.options.maxBody);
    const action = readApprovalAction({ action: decision, id: ctx.params.id });
    return Response.json({ done: await decideApproval(gateway, action, askerOf(ctx)) });
  },
});
