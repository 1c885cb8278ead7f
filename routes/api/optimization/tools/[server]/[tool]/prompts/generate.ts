import { z } from "zod";
import { define } from "../../../../../../../lib/console/define.ts";
import { PromptCount } from "../../../../../../../lib/surfaces/optimization/limits.ts";
import { namedTool } from "../../../../../(_parts)/named_tool.ts";
import { readJson } from "../../../../../(_parts)/read_json.ts";

const Wanted = z.strictObject({
  directCount: PromptCount,
  indirectCount: PromptCount,
  negativeCount: PromptCount,
});

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { server, tool } = namedTool(ctx.url);
    const counts = await readJson(ctx.req, Wanted, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    const input = { server, tool, ...counts };
    const generated = await admin.generatePrompts(input, undefined, ctx.req.signal);
    return Response.json(generated, { status: 201 });
  },
});
