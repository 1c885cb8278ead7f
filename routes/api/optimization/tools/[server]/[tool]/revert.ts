import { z } from "zod";
import { define } from "../../../../../../lib/console/define.ts";
import { Reason } from "../../../../../../lib/surfaces/optimization/limits.ts";
import { namedTool } from "../../../../(_parts)/named_tool.ts";
import { readJson } from "../../../../(_parts)/read_json.ts";

const Wanted = z.strictObject({
  /** An event of the history; the server's own description without. */
  to: z.string().exactOptional(),
  reason: Reason.exactOptional(),
});

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { server, tool } = namedTool(ctx.url);
    const wanted = await readJson(ctx.req, Wanted, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    return Response.json({ promotion: await admin.revert({ server, tool, ...wanted }, "person") });
  },
});
