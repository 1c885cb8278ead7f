import { z } from "zod";
import { define } from "../../../../../../lib/console/define.ts";
import { Reason } from "../../../../../../lib/surfaces/optimization/limits.ts";
import { namedTool } from "../../../../(_parts)/named_tool.ts";
import { readJson } from "../../../../(_parts)/read_json.ts";

const Wanted = z.strictObject({
  candidateId: z.string(),
  /** Needed where the verdict is against it. */
  reason: Reason.exactOptional(),
});

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { server, tool } = namedTool(ctx.url);
    const wanted = await readJson(ctx.req, Wanted, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    const promotion = await admin.promote({ server, tool, ...wanted }, "person");
    return Response.json({ promotion });
  },
});
