import { z } from "zod";
import { define } from "../../../../../../../lib/console/define.ts";
import { namedTool } from "../../../../../(_parts)/named_tool.ts";
import { readJson } from "../../../../../(_parts)/read_json.ts";

// Its length is checked by what keeps it, which says how long it was.
const Proposal = z.strictObject({ description: z.string(), example: z.string().exactOptional() });

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { server, tool } = namedTool(ctx.url);
    const proposal = await readJson(ctx.req, Proposal, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    const candidate = await admin.propose({ server, tool, ...proposal }, "person");
    return Response.json({ candidate }, { status: 201 });
  },
});
